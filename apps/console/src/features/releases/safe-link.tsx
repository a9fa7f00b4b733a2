import { linkIssue } from '@keyward/contract'

/** An address that can no longer be added is text, its invisible characters percent-encoded. */
export function SafeLink({ link }: { link: string }) {
  if (linkIssue(link)) {
    return (
      <span title="Only https links without a username open" className="min-w-0 truncate text-fg-muted">
        <bdi>{URL.parse(link)?.href ?? link}</bdi>
      </span>
    )
  }
  return (
    <a
      href={link}
      target="_blank"
      rel="noreferrer"
      title={link}
      className="min-w-0 truncate text-accent-text underline"
    >
      {link}
    </a>
  )
}

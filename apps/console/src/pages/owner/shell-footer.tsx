import { Link } from 'react-router'
import { toPolicyLinks, usePublicConfig } from '../../lib/api/public-config.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { cx } from '../../ui/cx.ts'

const linkClass = 'rounded-sm py-0.5 hover:text-fg hover:underline underline-offset-4'

/** As wide as the page above it. */
export function ShellFooter({ wide }: { wide: boolean }) {
  const external = toPolicyLinks(usePublicConfig())
  return (
    <footer
      className={cx(
        'mx-auto flex w-full flex-wrap items-center justify-between gap-x-8 gap-y-3 border-t px-4 py-5 text-[0.8125rem] text-fg-muted md:px-8',
        wide ? 'max-w-400' : 'max-w-6xl',
      )}
    >
      <p>
        Secure authentication platform <span className="tabular-nums">· Version {__KEYWARD_VERSION__}</span>
      </p>
      <nav aria-label="Footer">
        <ul className="flex flex-wrap gap-x-5 gap-y-1.5">
          <li>
            <Link to={paths.about} className={linkClass}>
              About
            </Link>
          </li>
          <li>
            <Link to={paths.terms} className={linkClass}>
              Terms
            </Link>
          </li>
          <li>
            <Link to={paths.privacy} className={linkClass}>
              Privacy
            </Link>
          </li>
          {external.map(({ label, href }) => (
            <li key={label}>
              <a href={href} target="_blank" rel="noreferrer" className={linkClass}>
                {label}
                <span className="sr-only"> (opens in a new tab)</span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </footer>
  )
}

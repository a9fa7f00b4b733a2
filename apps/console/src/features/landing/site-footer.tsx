import { type PublicConfig, usePublicConfig } from '../../lib/api/public-config.ts'
import { paths } from '../../lib/navigation/paths.ts'

const external: { name: keyof PublicConfig['links']; label: string }[] = [
  { name: 'shipping', label: 'Shipping policy' },
  { name: 'refund', label: 'Refund policy' },
  { name: 'paymentTerms', label: 'Payment terms' },
  { name: 'community', label: 'Community' },
  { name: 'videos', label: 'Videos' },
]
const linkClass = 'rounded-sm text-fg-muted transition-colors hover:text-fg'

export function SiteFooter() {
  const links = usePublicConfig()?.links

  return (
    <footer className="border-t">
      <div className="mx-auto flex max-w-6xl flex-col gap-8 px-5 py-10 sm:px-8 md:flex-row md:items-start md:justify-between">
        <div>
          <p className="font-semibold">Keyward</p>
          <p className="mt-1 text-fg-muted">Secure authentication platform</p>
          <p className="mt-1 text-fg-muted tabular-nums">Version {__KEYWARD_VERSION__}</p>
        </div>
        <nav aria-label="Footer" className="max-w-2xl">
          <ul className="flex flex-wrap gap-x-6 gap-y-3 md:justify-end">
            <li>
              <a href={paths.about} className={linkClass}>
                About
              </a>
            </li>
            <li>
              <a href={paths.terms} className={linkClass}>
                Terms
              </a>
            </li>
            <li>
              <a href={paths.privacy} className={linkClass}>
                Privacy
              </a>
            </li>
            {external.map(({ name, label }) => {
              const href = links?.[name]
              return href ? (
                <li key={name}>
                  <a href={href} target="_blank" rel="noreferrer" className={linkClass}>
                    {label}
                    <span className="sr-only"> (opens in a new tab)</span>
                  </a>
                </li>
              ) : null
            })}
          </ul>
        </nav>
      </div>
    </footer>
  )
}

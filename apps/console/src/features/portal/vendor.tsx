import { useQuery } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { LogoMark } from '../../ui/logo.tsx'

const useVendor = () =>
  useQuery({
    queryKey: [...keys.reseller, 'vendor'],
    queryFn: ({ signal }) => call(wire.portal.vendor, { signal }),
  }).data

/** The vendor's logo, in the place of ours. */
export function VendorLogo() {
  const logo = useVendor()?.logo
  return logo ? <img src={logo} alt="" className="size-7 object-contain" /> : <LogoMark />
}

/** Whose licenses these are, where the vendor helps, and where it sells. */
export function VendorLine() {
  const { name, support = null, shop = null } = useVendor() ?? {}
  return (
    <p className="wrap-anywhere mb-1 flex min-h-5 flex-wrap gap-x-4">
      <span className="text-fg">{name}</span>
      {[support, shop]
        .filter((link) => link !== null)
        .map((link) => {
          const isPage = link.startsWith('https:')
          return (
            <a
              key={link}
              href={isPage ? link : `mailto:${link}`}
              target={isPage ? '_blank' : undefined}
              rel="noreferrer"
              className="text-accent-text hover:underline"
            >
              {isPage ? link.replace(/^https:\/\/|[?#].*/g, '') : link}
            </a>
          )
        })}
    </p>
  )
}

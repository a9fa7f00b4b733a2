import { cx } from '../../ui/cx.ts'
import dashboardDark from './pictures/dashboard-dark.webp'
import dashboardLight from './pictures/dashboard-light.webp'
import licensesDark from './pictures/licenses-dark.webp'
import licensesLight from './pictures/licenses-light.webp'
import licensesPhoneDark from './pictures/licenses-phone-dark.webp'
import licensesPhoneLight from './pictures/licenses-phone-light.webp'
import portalDark from './pictures/portal-dark.webp'
import portalLight from './pictures/portal-light.webp'

interface Picture {
  light: string
  dark: string
  alt: string
  width: number
  height: number
}

const desktop = { width: 1536, height: 960 }
const licenses: Picture = {
  ...desktop,
  light: licensesLight,
  dark: licensesDark,
  alt: 'The Licenses page: counts by status, filters and a table of keys with their expiry dates',
}
const licensesPhone: Picture = {
  light: licensesPhoneLight,
  dark: licensesPhoneDark,
  alt: 'The Licenses page on a phone',
  width: 780,
  height: 1400,
}
const dashboard: Picture = {
  ...desktop,
  light: dashboardLight,
  dark: dashboardDark,
  alt: 'The dashboard: figures with their change, activations over time and the apps',
}
const portal: Picture = {
  ...desktop,
  light: portalLight,
  dark: portalDark,
  alt: 'The reseller portal: the quota, what is left of it and the latest keys',
}

export function ConsoleTour() {
  return (
    <section aria-labelledby="tour-title" className="py-20 sm:py-28">
      <div className="max-w-2xl">
        <h2 id="tour-title" className="text-3xl font-semibold tracking-tight text-balance">
          A console for the whole day’s work
        </h2>
        <p className="mt-3 text-lg text-fg-muted text-pretty">
          Find a key, extend it, unlock a computer, ban an account: every answer is one search away, on a
          desktop and on a phone.
        </p>
      </div>
      <div className="mt-12 grid gap-8 sm:grid-cols-2 sm:gap-6">
        <Shot
          picture={licenses}
          caption="Licenses, with search and filters"
          className="max-sm:hidden sm:col-span-2"
        />
        <Shot picture={licensesPhone} caption="Licenses, with search and filters" className="sm:hidden" />
        <Shot picture={dashboard} caption="The dashboard of a vendor" className="max-sm:hidden" />
        <Shot picture={portal} caption="The portal of a reseller" className="max-sm:hidden" />
      </div>
    </section>
  )
}

interface ShotProps {
  picture: Picture
  caption: string
  className?: string
}

/** One picture per theme. The hidden one has no box, so that the browser never loads it. */
function Shot({ picture: { light, dark, alt, width, height }, caption, className }: ShotProps) {
  const shared = { width, height, loading: 'lazy', decoding: 'async' } as const
  const look = 'h-auto w-full'
  return (
    <figure className={className}>
      <div className="overflow-hidden rounded-xl border border-line bg-sunken shadow-pop">
        <img alt={alt} src={light} {...shared} className={cx(look, 'dark:hidden')} />
        <img alt={alt} src={dark} {...shared} className={cx(look, 'hidden dark:block')} />
      </div>
      <figcaption className="mt-3 text-center text-fg-muted">{caption}</figcaption>
    </figure>
  )
}

/** @jsxImportSource preact */
import type { CustomerPage } from '@keyward/contract'
import { base } from '../lib/navigation/base.ts'

/** Whose page it is, at its top. */
export function Brand({ page: { app, logo } }: { page: CustomerPage }) {
  return (
    <div class="brand">
      {logo && <img src={addressOf(app.appId, logo)} alt="" />}
      <strong>{app.name}</strong>
    </div>
  )
}

/** The console sends the picture itself. */
const addressOf = (appId: string, logo: string) =>
  logo.startsWith('data:') ? logo : `${base}/api/customer/${appId}/logo/${logo}`

/** Who makes the app, where it helps, and where it sells, at the end of the page. */
export function Maker({ page: { app, vendor, support, shop } }: { page: CustomerPage }) {
  const links = [support, shop].filter((link) => link !== null)
  if (vendor === app.name && links.length === 0) return null
  return (
    <footer class="maker muted small">
      <span>{vendor}</span>
      {links.map((link) => {
        const isPage = link.startsWith('https:')
        return (
          <a key={link} href={isPage ? link : `mailto:${link}`} rel="noreferrer">
            {isPage ? link.replace(/^https:\/\/|[?#].*/g, '') : link}
          </a>
        )
      })}
    </footer>
  )
}

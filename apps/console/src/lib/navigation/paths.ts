import { consolePaths } from '@keyward/contract/console-paths'
import { base } from './base.ts'

/** The server serves the last seven itself, outside of the router: link to them with `<a href>`. */
const absolute = {
  ...consolePaths,
  docs: '/docs',
  automation: '/docs/automation',
  shopDocs: '/docs/shops',
  migrationDocs: '/docs/migration',
  openApi: '/api/openapi.json',
  sdks: '/sdk/',
  notices: '/third-party-notices.txt',
} as const

/** All links of the console, under the server's base path. */
export const paths = Object.fromEntries(
  Object.entries(absolute).map(([name, path]) => [name, `${base}${path}`]),
) as unknown as typeof absolute

/** The tab of the sign-in page that creates an account. */
export const signUpPath = `${paths.auth}?tab=sign-up`

/** The pages of single objects. */
export const appPath = (id: string) => `${base}/apps/${id}`
export const licensePath = (id: string) => `${paths.licenses}/${id}`
export const resellerPath = (id: string) => `${paths.resellers}/${id}`
export const webhookPath = (id: string) => `${paths.integrations}/${id}`
/** A list with filters, for example `listPath(paths.licenses, { app, status: 'active' })`. */
export function listPath(list: string, filters: Record<string, string | undefined>): string {
  const query = new URLSearchParams(
    Object.entries(filters).filter((entry): entry is [string, string] => Boolean(entry[1])),
  )
  return query.size > 0 ? `${list}?${query}` : list
}
export const userPath = (id: string) => `${paths.users}/${id}`
export const customerPath = (id: string) => `${paths.customers}/${id}`

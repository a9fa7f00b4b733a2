import { consolePaths } from '@keyward/contract/console-paths'
import { base } from './base.ts'

/** The server serves the last five itself, outside of the router: link to them with `<a href>`. */
const absolute = {
  ...consolePaths,
  docs: '/docs',
  automation: '/docs/automation',
  openApi: '/api/openapi.json',
  sdks: '/sdk/',
  notices: '/third-party-notices.txt',
} as const

/** All links of the console, under the server's base path. */
export const paths = Object.fromEntries(
  Object.entries(absolute).map(([name, path]) => [name, `${base}${path}`]),
) as unknown as typeof absolute

/** The pages of single objects. */
export const appPath = (id: string) => `${base}/apps/${id}`
export const licensePath = (id: string) => `${paths.licenses}/${id}`
export const webhookPath = (id: string) => `${paths.integrations}/${id}`
export const userPath = (id: string) => `${paths.users}/${id}`

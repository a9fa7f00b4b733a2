import { z } from 'zod'
import { version } from './apps.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { idParams, instant, isoTime, none } from './shared.ts'

const release = z.strictObject({
  _id: z.string(),
  version: z.string(),
  releasedAt: isoTime,
  link: z.string().nullable(),
  createdAt: isoTime,
})

/** Characters that hide a part of a link or reverse its order on a screen. */
const misleading = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\\]/u

const hasNoCredentials = (link: string): boolean => {
  const url = URL.parse(link)
  return url?.username === '' && url.password === ''
}

const address = 'Please enter a web address that starts with https://'

/** Where people download a version. */
export const releaseLink = z
  .url({ protocol: z.regexes.httpProtocol, hostname: z.regexes.domain, error: address, abort: true })
  .max(500, 'A link can have at most 500 characters')
  .refine((link) => /^https:/i.test(link), { error: address, abort: true })
  .refine(hasNoCredentials, { error: 'A link must have no username or password', abort: true })
  .refine((link) => !misleading.test(link), 'A link must have no spaces or invisible characters')

const tag = 'Releases'

export const releases = {
  list: endpoint({
    method: 'GET',
    path: '/apps/:id/releases',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary: `List the released versions of an app, newest first, at most ${limits.releasesMax}`,
    params: idParams,
    data: z.strictObject({ releases: z.array(release) }),
  }),
  add: endpoint({
    method: 'POST',
    path: '/apps/:id/releases',
    access: 'owner',
    permission: 'apps:write',
    tag,
    summary:
      'Add a released version, which becomes the version of the app if it is newer and out; licenses with an end of updates cover it only if it was released before',
    params: idParams,
    body: z.strictObject({ version, releasedAt: instant, link: releaseLink.nullish() }),
    data: z.strictObject({ release }),
    status: 201,
    errors: ['release_exists', 'releases_full'],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/releases/:id',
    access: 'owner',
    permission: 'apps:write',
    tag,
    summary: 'Remove a released version; every license then covers it',
    params: idParams,
    data: none,
  }),
}

export type Release = z.output<typeof release>

import { z } from 'zod'
import { version } from './apps.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { idParams, instant, isoTime, none } from './shared.ts'
import { webLink } from './web-link.ts'

const release = z.strictObject({
  _id: z.string(),
  version: z.string(),
  releasedAt: isoTime,
  link: z.string().nullable(),
  createdAt: isoTime,
})

/** Where people download a version. */
export const releaseLink = webLink

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

import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { idParams, isoTime } from './shared.ts'

const devices = z.int().describe('bound devices')
const unseen = z.int().describe(`bound devices that were not seen for ${limits.unseenDays} days`)

const tag = 'Releases'

export const exposure = {
  versions: endpoint({
    method: 'GET',
    path: '/apps/:id/versions',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary: `List the versions that run on bound devices by their last sign-in or \`session\`, newest first: the ${limits.versionsMax} on most devices`,
    params: idParams,
    data: z.strictObject({
      versions: z.array(z.strictObject({ version: z.string(), devices, lastSeenAt: isoTime })),
      unknown: z.int().describe('bound devices whose version no program has named yet'),
      unseen,
    }),
  }),
}

export type VersionsInUse = z.output<(typeof exposure.versions)['data']>

import { randomUUID } from 'node:crypto'
import { duration, endpoints, licenseNote, limits } from '@keyward/contract'
import { z } from 'zod'
import { endUserObject, licenseObject } from './objects.ts'
import { getLicense } from './reading-tools.ts'
import {
  appId,
  date,
  deviceId,
  endUserId,
  licenseId,
  licenseTypeId,
  only,
  repeatKey,
  request,
  type Tool,
  tool,
} from './tool.ts'

/** An agent that wants more asks again; one mistaken call makes no hundred. */
const licensesMax = 20

const repeated = z
  .boolean()
  .describe(
    'true if the same call was made within 24 hours: it is not done again, and this is its first answer',
  )
const changed = z.boolean().describe('false if there was nothing to change')
const days = z.int().min(1).max(limits.extendDaysMax)
const reason = z
  .string()
  .trim()
  .max(200)
  .optional()
  .describe('shown to the end user where the text of the app contains {reason}')

export const writingTools: readonly Tool[] = [
  tool({
    name: 'create_licenses',
    title: 'Create licenses',
    description: `Creates 1 to ${licensesMax} licenses of an app with exactly one of type, duration (from the first use) and expiresAt. The same call within 24 hours returns the same licenses; to create more of the same, send another \`request\`.`,
    kind: 'write',
    needs: ['licenses:write'],
    input: only({
      app: appId,
      type: licenseTypeId.optional(),
      duration: duration.optional(),
      expiresAt: date
        .nullable()
        .optional()
        .describe('an ISO 8601 date or date-time in the future, or null: never expires'),
      count: z.int().min(1).max(licensesMax).default(1),
      note: licenseNote.optional(),
      request,
    }).refine(
      ({ type, duration, expiresAt }) =>
        [type, duration, expiresAt].filter((field) => field !== undefined).length === 1,
      { message: 'Exactly one of type, duration and expiresAt is required' },
    ),
    output: z.object({ licenses: z.array(licenseObject), repeated }),
    run: async (api, input) => {
      const { request: _, ...body } = input
      const idempotencyKey = repeatKey('create_licenses', input)
      const { data, isRepeat } = await api.call(endpoints.licenses.create, { body, idempotencyKey })
      return { licenses: data.licenses, repeated: isRepeat }
    },
  }),
  tool({
    name: 'extend_license',
    title: 'Extend a license',
    description:
      'Adds days to a license and its end user, counted from the later of now and the current end. One that never expires, or whose time starts with its first use, is left as it is: `changed` is false. The same call within 24 hours adds them once; to add them again, send another `request`.',
    kind: 'write',
    needs: ['licenses:write'],
    input: only({ id: licenseId, days, request }),
    output: z.object({ license: licenseObject, changed, repeated }),
    run: async (api, input) => {
      const body = { action: 'extend', ids: [input.id], days: input.days }
      const idempotencyKey = repeatKey('extend_license', input)
      const { data, isRepeat } = await api.call(endpoints.bulk.licenses, { body, idempotencyKey })
      return { license: data.licenses[0], changed: data.changed > 0, repeated: isRepeat }
    },
  }),
  tool({
    name: 'extend_end_user',
    title: 'Extend an end user',
    description:
      'Adds days to an end user, counted from the later of now and the current end. The same call within 24 hours adds them once; to add them again, send another `request`.',
    kind: 'write',
    needs: ['clients:write'],
    input: only({ id: endUserId, days, request }),
    output: z.object({ endUser: endUserObject, repeated }),
    run: async (api, input) => {
      const sent = { params: { id: input.id }, body: { days: input.days } }
      const idempotencyKey = repeatKey('extend_end_user', input)
      const { data, isRepeat } = await api.call(endpoints.clients.extend, { ...sent, idempotencyKey })
      return { endUser: data.client, repeated: isRepeat }
    },
  }),
  banLicense('ban_license', true),
  banLicense('unban_license', false),
  banEndUser('ban_end_user', true),
  banEndUser('unban_end_user', false),
  tool({
    name: 'free_device',
    title: 'Free a device',
    description:
      'Frees one device of an end user, so that another one can take its place. Both exact ids are required.',
    kind: 'destroy',
    needs: ['clients:write'],
    input: only({ endUser: endUserId, device: deviceId }),
    output: z.object({ endUser: z.string(), device: z.string(), freed: z.boolean(), repeated }),
    run: async (api, input) => {
      const params = { id: input.endUser, deviceId: input.device }
      // The id of a device that was freed never returns, so the first answer stays true.
      const idempotencyKey = repeatKey('free_device', input)
      const { isRepeat } = await api.call(endpoints.clients.freeDevice, { params, idempotencyKey })
      return { ...input, freed: true, repeated: isRepeat }
    },
  }),
  tool({
    name: 'reset_hwid',
    title: 'Reset the hardware id',
    description:
      'Frees all devices of an end user: the next sign-in binds a new one. The exact id of the end user is required.',
    kind: 'destroy',
    needs: ['clients:read', 'clients:write'],
    input: only({ id: endUserId }),
    output: z.object({ endUser: endUserObject, changed }),
    run: async (api, { id }) => {
      const params = { id }
      const { client } = (await api.call(endpoints.clients.get, { params })).data
      const { used } = (await api.call(endpoints.clients.devices, { params })).data
      if (client.hwid === null && used === 0) return { endUser: client, changed: false }
      const sent = { params, body: {}, idempotencyKey: randomUUID() }
      return { endUser: (await api.call(endpoints.clients.resetHwid, sent)).data.client, changed: true }
    },
  }),
]

// Bans and resets set a state, so they ask for it first instead of deriving an Idempotency-Key from their input: after a ban,
// an unban and a second ban, the answer to the first one would be wrong.

function banLicense(name: string, ban: boolean): Tool {
  return tool({
    name,
    title: ban ? 'Ban a license' : 'Unban a license',
    description: ban
      ? 'Bans a license: programs refuse it until the ban is lifted. Its exact id is required.'
      : 'Lifts the ban of a license. Its exact id is required.',
    kind: ban ? 'destroy' : 'write',
    needs: ['licenses:read', 'licenses:write'],
    input: only({ id: licenseId, ...(ban ? { reason } : {}) }),
    output: z.object({ license: licenseObject, changed }),
    run: async (api, { id, ...rest }) => {
      const license = await getLicense(api, id)
      if (license.banned === ban) return { license, changed: false }
      const body = { is_banned: ban, ...rest }
      const sent = { params: { id }, body, idempotencyKey: randomUUID() }
      return { license: (await api.call(endpoints.licenses.toggleBan, sent)).data.license, changed: true }
    },
  })
}

function banEndUser(name: string, ban: boolean): Tool {
  return tool({
    name,
    title: ban ? 'Ban an end user' : 'Unban an end user',
    description: ban
      ? 'Bans an end user: programs refuse it until the ban is lifted. Its exact id is required.'
      : 'Lifts the ban of an end user. Its exact id is required.',
    kind: ban ? 'destroy' : 'write',
    needs: ['clients:read', 'clients:write'],
    input: only({ id: endUserId, ...(ban ? { reason } : {}) }),
    output: z.object({ endUser: endUserObject, changed }),
    run: async (api, { id, ...rest }) => {
      const { client } = (await api.call(endpoints.clients.get, { params: { id } })).data
      if (client.ban === ban) return { endUser: client, changed: false }
      const body = { is_banned: ban, ...rest }
      const sent = { params: { id }, body, idempotencyKey: randomUUID() }
      return { endUser: (await api.call(endpoints.clients.toggleBan, sent)).data.client, changed: true }
    },
  })
}

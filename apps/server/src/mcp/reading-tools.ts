import { endpoints, type License } from '@keyward/contract'
import { z } from 'zod'
import type { Calls } from './keyward-api.ts'
import {
  appObject,
  deviceObject,
  endUserObject,
  eventObject,
  licenseObject,
  licenseTypeObject,
  paginationObject,
} from './objects.ts'
import { appId, endUserId, licenseId, only, paging, searched, type Tool, tool } from './tool.ts'

/** Devices of one end user in an answer. */
const devicesMax = 50

export const readingTools: readonly Tool[] = [
  tool({
    name: 'list_apps',
    title: 'List apps',
    description: 'Lists the apps that the API key may access, newest first.',
    kind: 'read',
    needs: ['apps:read'],
    input: only({ search: searched('part of a name or appId'), ...paging }),
    output: z.object({ apps: z.array(appObject), pagination: paginationObject }),
    run: async (api, query) => (await api.call(endpoints.apps.list, { query })).data,
  }),
  tool({
    name: 'list_license_types',
    title: 'List license types',
    description: 'Lists the license types of an app: the terms that licenses are generated with.',
    kind: 'read',
    needs: ['licenses:read'],
    input: only({ app: appId }),
    output: z.object({ licenseTypes: z.array(licenseTypeObject) }),
    run: async (api, { app }) => (await api.call(endpoints.licenseTypes.list, { params: { id: app } })).data,
  }),
  tool({
    name: 'find_license',
    title: 'Find licenses',
    description:
      'Finds licenses by a part of the key, the note or the username of the end user, newest first; with the permission clients:read also by the address or a device of the end user. Without a search it lists them.',
    kind: 'read',
    needs: ['licenses:read'],
    input: only({
      search: searched('at least 3 characters find it anywhere, fewer only at the beginning'),
      app: appId.optional(),
      status: z.enum(['unused', 'active', 'expired', 'banned']).optional(),
      ...paging,
    }),
    output: z.object({ licenses: z.array(licenseObject), pagination: paginationObject }),
    run: async (api, query) => (await api.call(endpoints.licenses.list, { query })).data,
  }),
  tool({
    name: 'get_license',
    title: 'Get a license',
    description: 'Returns one license by its id.',
    kind: 'read',
    needs: ['licenses:read'],
    input: only({ id: licenseId }),
    output: z.object({ license: licenseObject }),
    run: async (api, { id }) => ({ license: await getLicense(api, id) }),
  }),
  tool({
    name: 'find_end_user',
    title: 'Find end users',
    description:
      'Finds end users by a part of the username, the e-mail address, the name of a device or a license key, newest first. The address of a buyer may be another one: find_customer finds it. Without a search it lists them.',
    kind: 'read',
    needs: ['clients:read'],
    input: only({
      search: searched('at least 3 characters find it anywhere, fewer only at the beginning'),
      app: appId.optional(),
      status: z.enum(['active', 'expired', 'banned']).optional(),
      ...paging,
    }),
    output: z.object({ endUsers: z.array(endUserObject), pagination: paginationObject }),
    run: async (api, query) => {
      const { clients, pagination } = (await api.call(endpoints.clients.list, { query })).data
      return { endUsers: clients, pagination }
    },
  }),
  tool({
    name: 'get_end_user',
    title: 'Get an end user with devices',
    description: `Returns one end user by its id, and its devices: at most ${devicesMax}, the one seen last first.`,
    kind: 'read',
    needs: ['clients:read'],
    input: only({ id: endUserId }),
    output: z.object({
      endUser: endUserObject,
      devices: z.array(deviceObject),
      devicesUsed: z.number(),
      devicesAllowed: z.number().describe('-1 for any number'),
    }),
    run: async (api, { id }) => {
      const params = { id }
      const [{ data: found }, { data: bound }] = await Promise.all([
        api.call(endpoints.clients.get, { params }),
        api.call(endpoints.clients.devices, { params }),
      ])
      return {
        endUser: found.client,
        devices: bound.devices.slice(0, devicesMax),
        devicesUsed: bound.used,
        devicesAllowed: bound.limit,
      }
    },
  }),
  tool({
    name: 'list_activity',
    title: 'List activity',
    description:
      'Lists what programs did and what they were refused, newest first: of everything, of an app, or of an end user.',
    kind: 'read',
    needs: ['clients:read'],
    input: only({
      app: appId.optional(),
      endUser: endUserId.optional(),
      onlyRefusals: z.boolean().default(false),
      ...paging,
    }),
    output: z.object({ events: z.array(eventObject), pagination: paginationObject }),
    run: async (api, { app, endUser, onlyRefusals, page, limit }) => {
      const code = onlyRefusals ? 'any' : undefined
      const query = { app, client: endUser, code, page, limit }
      return (await api.call(endpoints.activity.list, { query })).data
    },
  }),
]

export async function getLicense(api: Calls, id: string): Promise<License> {
  return (await api.call(endpoints.licenses.get, { params: { id } })).data.license
}

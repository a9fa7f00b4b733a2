import { endpoints } from '@keyward/contract'
import { z } from 'zod'
import type { Calls } from './keyward-api.ts'
import {
  customerMailObject,
  customerObject,
  deviceOfMany,
  endUserObject,
  licenseObject,
  orderObject,
  paginationObject,
} from './objects.ts'
import { appId, customerId, only, paging, searched, type Tool, tool } from './tool.ts'

/** Licenses, end users, devices, orders and mails of one customer in an answer: this many of each. */
const partsMax = 20

const withoutRight = 'null without the permission licenses:read'

export const customerTools: readonly Tool[] = [
  tool({
    name: 'find_customer',
    title: 'Find customers',
    description:
      'Finds customers, the people that licenses are sold to, by a part of the e-mail address or the name, newest first. Without a search it lists them.',
    kind: 'read',
    needs: ['clients:read'],
    input: only({
      search: searched('a part of the address or the name'),
      app: appId.optional(),
      ...paging,
    }),
    output: z.object({ customers: z.array(customerObject), pagination: paginationObject }),
    run: async (api, query) => (await api.call(endpoints.customers.list, { query })).data,
  }),
  tool({
    name: 'get_customer',
    title: 'Get a customer with what it has',
    description: `Returns one customer by its id, with its newest licenses, end users, devices, orders and mails: at most ${partsMax} of each. Licenses and orders need the permission licenses:read.`,
    kind: 'read',
    needs: ['clients:read'],
    input: only({ id: customerId }),
    output: z.object({
      customer: customerObject,
      licenses: z
        .array(licenseObject)
        .nullable()
        .describe(`its own, and those of its end users; ${withoutRight}`),
      endUsers: z.array(endUserObject).describe('those linked to it, and those who use its licenses'),
      devices: z.array(deviceOfMany).describe('of these end users'),
      orders: z.array(orderObject).nullable().describe(withoutRight),
      mails: z.array(customerMailObject).describe('of the last days, without what they say'),
    }),
    run: async (api, { id }) => {
      const found = (await api.call(endpoints.customers.get, { params: { id } })).data
      return {
        customer: found.customer,
        licenses: found.licenses?.slice(0, partsMax) ?? null,
        endUsers: found.clients.slice(0, partsMax),
        devices: found.devices.slice(0, partsMax).map(({ client, ...one }) => ({ ...one, endUser: client })),
        // Both need the same permission.
        orders: found.licenses && (await listOrders(api, id)),
        mails: found.mails.slice(0, partsMax),
      }
    },
  }),
]

const listOrders = async (api: Calls, customer: string) =>
  (await api.call(endpoints.orders.list, { query: { customer, limit: partsMax } })).data.orders

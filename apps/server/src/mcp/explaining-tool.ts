import { type ActivityEvent, endpoints } from '@keyward/contract'
import { z } from 'zod'
import type { Calls } from './keyward-api.ts'
import { eventObject, explanationObject } from './objects.ts'
import { getLicense } from './reading-tools.ts'
import { endUserId, licenseId, only, tool } from './tool.ts'

/** How many refusals of an app are searched for a key that no end user has. */
const searchedMax = 200

const input = only({
  reference: z
    .string()
    .regex(/^[0-9A-Za-z]{4,32}$/, 'Must be the reference that the program showed, such as 7K3M9Q2XAB')
    .optional(),
  endUser: endUserId.optional(),
  license: licenseId.optional(),
}).refine((named) => Object.values(named).filter((value) => value !== undefined).length === 1, {
  message: 'Exactly one of reference, endUser and license is required',
})

export const explainRefusal = tool({
  name: 'explain_refusal',
  title: 'Explain a refusal',
  description:
    'Explains why a program was refused, what the state is now, and what would change it: by the reference that the program showed, or the last refusal of an end user or a license.',
  kind: 'read',
  needs: ['clients:read'],
  input,
  output: z.object({
    refusal: z
      .object({
        event: eventObject,
        explanation: explanationObject.nullable().describe('null for what was not refused'),
      })
      .nullable()
      .describe('null if none is recorded'),
  }),
  run: async (api, named) => {
    const reference = named.reference ?? (await findReference(api, named))
    if (reference === undefined) return { refusal: null }
    return { refusal: (await api.call(endpoints.activity.explain, { params: { reference } })).data }
  },
})

async function findReference(
  api: Calls,
  { endUser, license: id }: { endUser?: string | undefined; license?: string | undefined },
): Promise<string | undefined> {
  if (endUser !== undefined) return (await listRefusals(api, { client: endUser, limit: 1 }))[0]?.reference
  if (id === undefined) return undefined
  const license = await getLicense(api, id)
  if (license.usedBy) return findReference(api, { endUser: license.usedBy._id })
  const refusals = await listRefusals(api, { app: license.app._id, limit: searchedMax })
  return refusals.find(({ subject }) => subject === license.key)?.reference
}

const listRefusals = async (
  api: Calls,
  query: { app?: string; client?: string; limit: number },
): Promise<ActivityEvent[]> =>
  (await api.call(endpoints.activity.list, { query: { ...query, code: 'any' } })).data.events

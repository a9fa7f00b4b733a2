import type { OwnerScope } from '../../core/actor.ts'
import { normalizeKey } from '../../core/ids.ts'
import { searchPage } from '../../db/lists/list-search.ts'
import { toSearchTerm } from '../../db/lists/search.ts'
import type { Ctx } from '../../service/ctx.ts'
import {
  type ActivityQuery,
  type EventMatches,
  listActivity,
  toReference,
} from '../activity/activity.service.ts'
import { endUserSource } from '../end-users/end-users.service.ts'

/** A text that many end users have finds the events of so many of them, the newest ones. */
const endUsersMost = 50

/** Lists events. A search finds them by end user as the list of end users does, and by what programs sent. */
export async function listEvents(
  ctx: Ctx,
  scope: OwnerScope,
  { search, ...query }: ActivityQuery & { search?: string | undefined },
) {
  const matches = search ? await toMatches(ctx, scope, search) : undefined
  return listActivity(ctx, scope, query, matches)
}

async function toMatches(ctx: Ctx, scope: OwnerScope, search: string): Promise<EventMatches | undefined> {
  const term = toSearchTerm(search)
  if (!term) return undefined
  const now = ctx.clock.now()
  const page = { page: 1, limit: endUsersMost, sort: 'newest' } as const
  const { seqs } = await searchPage(ctx.database, endUserSource.list, { scope, now }, page, term)
  const endUsers = await endUserSource.read(ctx, scope, seqs, now)
  const lower = search.trim().toLowerCase()
  const texts = new Set([lower, normalizeKey(search).toLowerCase()].filter((text) => text !== ''))
  const reference = toReference(search)
  return {
    clients: endUsers.map(({ _id }) => _id),
    subjects: [...texts].map((text) => ({ text, isBeginning: true })),
    address: /^[\da-f.:]+$/.test(lower) ? lower : undefined,
    reference: /^[\dA-Z]{3,10}$/.test(reference) ? reference : undefined,
  }
}

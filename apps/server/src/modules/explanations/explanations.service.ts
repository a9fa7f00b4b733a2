import type { MessageKey } from '@keyward/contract'
import type { OwnerScope } from '../../core/actor.ts'
import { normalizeKey } from '../../core/ids.ts'
import { searchPage } from '../../db/lists/list-search.ts'
import { toSearchTerm } from '../../db/lists/search.ts'
import type { Ctx } from '../../service/ctx.ts'
import {
  type ActivityQuery,
  type EventMatches,
  getActivity,
  isGathered,
  listActivity,
  toEvent,
  toReference,
} from '../activity/activity.service.ts'
import { readNames } from '../customers/names.access.ts'
import { endUserSource } from '../end-users/end-users.service.ts'
import { callOf, readSituation, type Situation, type SituationDeps } from '../program/program.service.ts'
import { explain, explainGathered, type Refused, toState } from './explanations.rules.ts'

export interface ExplanationDeps extends SituationDeps {
  ctx: Ctx
}

/** Explains a refusal of this owner's programs by its reference; 404 for any other one. */
export async function explainReference(deps: ExplanationDeps, scope: OwnerScope, reference: string) {
  const row = await getActivity(deps.ctx, scope, reference)
  const event = toEvent(row, await readNames(deps.ctx.db, scope, [row.client_id]))
  if (row.code === null) return { event, explanation: null }
  const code = row.code as MessageKey
  const { situation, ...detail } = JSON.parse(row.detail ?? '{}') as Refused['detail'] & {
    situation?: Situation
  }
  const { app_id: appId, subject, address, times } = row
  const call = situation && callOf(situation, row.call)
  const before = situation && call && { ...situation, call }
  const now = before && (await readSituation(deps, { appId, before, address }))
  const explanation = {
    ...(isGathered(row) ? explainGathered : explain)({
      code,
      appId,
      subject,
      address,
      times,
      situation: before,
      detail,
    }),
    before: toState(before, code),
    now: now ? toState(now, null) : null,
  }
  return { event, explanation }
}

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

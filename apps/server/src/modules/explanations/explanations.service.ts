import type { MessageKey } from '@keyward/contract'
import type { OwnerScope } from '../../core/actor.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getActivity, isGathered, toEvent } from '../activity/activity.service.ts'
import { callOf, readSituation, type Situation, type SituationDeps } from '../program/program.service.ts'
import { explain, explainGathered, type Refused, toState } from './explanations.rules.ts'

export interface ExplanationDeps extends SituationDeps {
  ctx: Ctx
}

/** Explains a refusal of this owner's programs by its reference; 404 for any other one. */
export async function explainReference(deps: ExplanationDeps, scope: OwnerScope, reference: string) {
  const row = await getActivity(deps.ctx, scope, reference)
  const event = toEvent(row)
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

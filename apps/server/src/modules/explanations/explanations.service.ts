import type { MessageKey } from '@keyward/contract'
import type { OwnerScope } from '../../core/actor.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getActivity, isGathered, toEvent } from '../activity/activity.service.ts'
import { readSituation, type SituationDeps } from '../program/facts/current.ts'
import type { Situation } from '../program/verdict/situation.ts'
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
  const now = situation && (await readSituation(deps, appId, situation, address))
  const explanation = {
    ...(isGathered(row) ? explainGathered : explain)({
      code,
      appId,
      subject,
      address,
      times,
      situation,
      detail,
    }),
    before: toState(situation, code),
    now: now ? toState(now, null) : null,
  }
  return { event, explanation }
}

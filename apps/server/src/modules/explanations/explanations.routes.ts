import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import { listEvents } from './events.service.ts'
import { type ExplanationDeps, explainReference } from './explanations.service.ts'

export function explanationsRoutes(mount: Mount, deps: ExplanationDeps): void {
  mount(endpoints.activity.list, 'owner', ({ actor, query }) => listEvents(deps.ctx, actor, query))
  mount(endpoints.activity.explain, 'owner', ({ actor, params }) =>
    explainReference(deps, actor, params.reference),
  )
}

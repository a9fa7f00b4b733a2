import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import { type ExplanationDeps, explainReference } from './explanations.service.ts'

export function explanationsRoutes(mount: Mount, deps: ExplanationDeps): void {
  mount(endpoints.activity.explain, 'owner', ({ actor, params }) =>
    explainReference(deps, actor, params.reference),
  )
}

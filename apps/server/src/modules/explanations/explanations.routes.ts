import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { explainReference, listEvents } from './explanations.service.ts'

export function explanationsRoutes(mount: Mount, parts: Parts): void {
  mount(endpoints.activity.list, 'owner', ({ actor, query }) => listEvents(parts.ctx, actor, query))
  mount(endpoints.activity.explain, 'owner', ({ actor, params }) =>
    explainReference(parts, actor, params.reference),
  )
}

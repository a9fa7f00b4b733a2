import { endpoints } from '@keyward/contract'
import { personOf } from '../../core/actor.ts'
import { StreamAnswer } from '../../core/answers.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'

export function eventsRoutes(mount: Mount, { events }: Parts): void {
  mount(endpoints.events.stream, 'owner', async ({ actor }) => new StreamAnswer(events.open(personOf(actor))))
}

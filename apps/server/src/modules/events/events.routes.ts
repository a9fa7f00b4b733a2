import { endpoints } from '@keyward/contract'
import { type Mount, StreamAnswer } from '../../http/mount.ts'
import type { Events } from './events.service.ts'

export function eventsRoutes(mount: Mount, events: Events): void {
  mount(endpoints.events.stream, 'owner', async ({ actor }) => new StreamAnswer(events.open(actor)))
}

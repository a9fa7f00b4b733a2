import type { Readable } from 'node:stream'
import type { OwnerScope } from '../../core/actor.ts'
import type { ActionRecord, RecordConsumer } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { EventHub } from './events.hub.ts'

export interface Events {
  open(actor: OwnerScope & { sessionId: string }): Readable
  /** Notifies the streams of the owners whose rows these records changed. */
  publish: RecordConsumer
  /** Notifies the streams of these owners that the activity log has grown. */
  notifyActivity(ownerIds: Iterable<string>): void
  start(): Promise<void>
  /** Closes every stream so that the server can stop. */
  endStreams(): void
  stop(): Promise<void>
}

export function createEvents(
  ctx: Ctx,
  options: { onError: (error: unknown) => void; heartbeatMs?: number | undefined },
): Events {
  const hub = new EventHub(ctx, options)
  const feed = ctx.database.engine.openFeed({
    onMessage: (message) => {
      const [ownerId = '', topic] = message.split(' ')
      hub.notify([ownerId], topic === 'activity' ? topic : 'change')
    },
    onGap: () => hub.notifyAll(),
    onError: options.onError,
  })
  return {
    open: hub.open.bind(hub),
    endStreams: hub.close.bind(hub),
    publish: (records) => feed.send(changedOwners(records)),
    notifyActivity: (ownerIds) => feed.send([...ownerIds].map((id) => `${id} activity`)),
    start: () => feed.start(),
    stop: () => feed.stop(),
  }
}

function changedOwners(records: readonly ActionRecord[]): ReadonlySet<string> {
  return new Set(records.map(({ ownerId }) => ownerId).filter((id) => id !== null))
}

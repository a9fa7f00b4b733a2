import type { Readable } from 'node:stream'
import type { OwnerScope } from '../../core/actor.ts'
import type { ActionRecord, RecordConsumer } from '../../db/record.ts'
import type { Ctx } from '../../service/ctx.ts'
import { EventHub } from './events.hub.ts'
import { PostgresEvents } from './events.postgres.ts'

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
  const { database, config } = ctx
  const common = { open: hub.open.bind(hub), endStreams: hub.close.bind(hub) }
  if (database.dialect === 'sqlite' || config.databaseUrl === undefined) {
    return {
      ...common,
      publish: (records) => hub.notify(changedOwners(records)),
      notifyActivity: (ownerIds) => hub.notify(ownerIds, 'activity'),
      start: async () => {},
      stop: async () => {},
    }
  }
  const nodes = new PostgresEvents({
    url: config.databaseUrl,
    pool: database.pool,
    onEvent: (ownerId, topic) => hub.notify([ownerId], topic),
    onGap: () => hub.notifyAll(),
    onError: options.onError,
  })
  return {
    ...common,
    publish: (records) => nodes.announce(changedOwners(records)),
    notifyActivity: (ownerIds) => nodes.announce(ownerIds, 'activity'),
    start: () => nodes.listen(),
    stop: () => nodes.stop(),
  }
}

function changedOwners(records: readonly ActionRecord[]): ReadonlySet<string> {
  return new Set(records.map(({ ownerId }) => ownerId).filter((id) => id !== null))
}

import type { Readable } from 'node:stream'
import type { Ctx, OwnerScope } from '../../core/ctx.ts'
import { EventHub } from './events.hub.ts'
import { PostgresEvents } from './events.postgres.ts'

export interface Events {
  open(actor: OwnerScope & { sessionId: string }): Readable
  /** Called after a commit, with the owners whose things it changed. */
  announce(ownerIds: ReadonlySet<string>): void
  start(): Promise<void>
  /** Ends every stream, so that the server can close. */
  endStreams(): void
  stop(): Promise<void>
}

export function createEvents(
  ctx: Ctx,
  options: { onError: (error: unknown) => void; beatMs?: number | undefined },
): Events {
  const hub = new EventHub(ctx, options)
  const { database, config } = ctx
  const common = { open: hub.open.bind(hub), endStreams: hub.close.bind(hub) }
  if (database.dialect === 'sqlite' || config.databaseUrl === undefined) {
    return { ...common, announce: hub.tell.bind(hub), start: async () => {}, stop: async () => {} }
  }
  const nodes = new PostgresEvents({
    url: config.databaseUrl,
    pool: database.pool,
    onChange: (ownerId) => hub.tell([ownerId]),
    onGap: () => hub.tellAll(),
    onError: options.onError,
  })
  return {
    ...common,
    announce: (ownerIds) => nodes.announce(ownerIds),
    start: () => nodes.listen(),
    stop: () => nodes.stop(),
  }
}

import type { Readable } from 'node:stream'
import type { OwnerScope } from '../../core/actor.ts'
import type { ActionRecord, RecordConsumer } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { type Concerned, EventHub } from './events.hub.ts'
import type { Topic } from './events.stream.ts'

export interface Events {
  open(actor: OwnerScope & { sessionId: string }): Readable
  /** Notifies the streams of those who may see what these records changed. */
  publish: RecordConsumer
  /** Notifies the streams of those who may see these apps that the activity log has grown. */
  notifyActivity(apps: readonly Concerned[]): void
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
      const [ownerId = '', topic, appId = null] = message.split(' ')
      hub.notify({ ownerId, appId }, topic === 'activity' ? topic : 'change')
    },
    onGap: () => hub.notifyAll(),
    onError: options.onError,
  })
  return {
    open: hub.open.bind(hub),
    endStreams: hub.close.bind(hub),
    publish: (records) => feed.send(messagesOf('change', records)),
    notifyActivity: (apps) => feed.send(messagesOf('activity', apps)),
    start: () => feed.start(),
    stop: () => feed.stop(),
  }
}

/** Without an app, a message is for those who may see all apps. */
function messagesOf(topic: Topic, changes: readonly Pick<ActionRecord, 'ownerId' | 'appId'>[]): Set<string> {
  const ofOwners = changes.filter(({ ownerId }) => ownerId !== null)
  return new Set(
    ofOwners.map(({ ownerId, appId }) => [ownerId, topic, ...(appId === null ? [] : [appId])].join(' ')),
  )
}

import type { Readable } from 'node:stream'
import type { ActionDetail, ActionName } from '@keyward/contract'
import { isVendor } from '../../core/actor.ts'
import type { ActionRecord, RecordConsumer } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { type Concerned, EventHub, everything } from './events.hub.ts'
import type { Listener, Topic } from './events.stream.ts'

export interface Events {
  open(listener: Listener): Readable
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
      const [id = '', topic, app = noApp, ...nouns] = message.split(' ')
      if (topic === 'sessions') endClosed([id])
      else if (topic === 'access') hub.endStreamsOf(id)
      else {
        const appId = app === noApp ? null : app
        hub.notify({ ownerId: id, appId }, topic === 'activity' ? topic : 'change', nouns)
      }
    },
    onGap: () => hub.notifyAll(),
    onError: options.onError,
  })
  const endClosed = (ids: Iterable<string>) => {
    for (const id of ids) void hub.endClosed(id).catch(options.onError)
  }
  return {
    open: hub.open.bind(hub),
    endStreams: hub.close.bind(hub),
    publish: (records) => {
      const holders = holdersOfEnded(records)
      endClosed(holders)
      const rejudged = records.filter(changesAccess)
      feed.send([
        ...messagesOf('change', records),
        ...[...holders].map((id) => `${id} sessions`),
        ...rejudged.map(({ ownerId }) => `${ownerId} access`),
      ])
    },
    notifyActivity: (apps) => feed.send(messagesOf('activity', apps)),
    start: () => feed.start(),
    stop: () => feed.stop(),
  }
}

/** The placeholder in a message that belongs to no app. Only people who may see all apps get it. */
const noApp = '-'

/** One message per owner and app, with the nouns of what changed. */
function messagesOf(topic: Topic, changes: readonly (Concerned | ActionRecord)[]): string[] {
  const nounsOf = new Map<string, Set<string>>()
  for (const change of changes) {
    if (change.ownerId === null) continue
    const concerned = `${change.ownerId} ${topic} ${change.appId ?? noApp}`
    const nouns = nounsOf.get(concerned) ?? new Set()
    nounsOf.set(concerned, nouns.add('action' in change ? change.action.split('.')[0]! : everything))
  }
  return [...nounsOf].map(([concerned, nouns]) => [concerned, ...nouns].join(' '))
}

/** Whether a record changes what people may do at the vendor. */
function changesAccess({ action, detail }: ActionRecord): boolean {
  if (action !== 'settings.updated') return changeAccess.has(action)
  const { before, after } = detail as ActionDetail<'settings.updated'>
  return before.requireSecondFactor !== after.requireSecondFactor
}

const changeAccess: ReadonlySet<ActionName> = new Set([
  'member.updated',
  'member.removed',
  'member.left',
  'vendor.handed_over',
])

const endSessions: ReadonlySet<ActionName> = new Set([
  'owner.signed_out',
  'owner.password_changed',
  'owner.password_reset',
  'owner.session_ended',
  'owner.sessions_ended',
  'platform.reset',
  'account.deleted',
])

/** The vendors and the people whose sessions some of these records ended. */
function holdersOfEnded(records: readonly ActionRecord[]): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const { action, ownerId, actor } of records) {
    if (!endSessions.has(action)) continue
    if (ownerId !== null) ids.add(ownerId)
    if (isVendor(actor) || actor.kind === 'account') ids.add(actor.actorId)
  }
  return ids
}

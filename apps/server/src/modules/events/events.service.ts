import type { Readable } from 'node:stream'
import type { ActionDetail, ActionName } from '@keyward/contract'
import { isVendor, sees } from '../../core/actor.ts'
import { second } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import type { ActionRecord, RecordConsumer } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { listOpenSessions } from '../sessions/sessions.service.ts'
import { EventStream, type Listener, type Topic } from './events.stream.ts'

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

const heartbeatMs = 25 * second
/** Enough for a person's open tabs; more indicates a runaway program, which must not lock the rest of the team out. */
const streamsPerPerson = 30

/** The wildcard for all nouns. */
export const everything = '*'

/** The owner and the app of the changed rows. */
export interface Concerned {
  ownerId: string
  appId: string | null
}

/** The streams open on this node, by owner. */
export class EventHub {
  readonly #ctx: Ctx
  readonly #streams = new Map<string, Set<EventStream>>()
  readonly #timer: NodeJS.Timeout
  #closed = false

  constructor(ctx: Ctx, options: { onError: (error: unknown) => void; heartbeatMs?: number | undefined }) {
    this.#ctx = ctx
    this.#timer = setInterval(
      () => void this.sendHeartbeats().catch(options.onError),
      options.heartbeatMs ?? heartbeatMs,
    )
    this.#timer.unref()
  }

  open(actor: Listener): Readable {
    if (this.#closed) throw problem('unavailable')
    const present = this.#streams.get(actor.ownerId) ?? new Set()
    const own = [...present].filter(({ listener }) => listener.actorId === actor.actorId)
    if (own.length >= streamsPerPerson) throw problem('rate_limited', { retryAfterSeconds: 60 })
    const stream = new EventStream(actor, () => {
      present.delete(stream)
      if (present.size === 0 && this.#streams.get(actor.ownerId) === present)
        this.#streams.delete(actor.ownerId)
    })
    this.#streams.set(actor.ownerId, present.add(stream))
    return stream.content
  }

  /** Notifies the streams of an owner whose actors may see the app; without an app, all apps. */
  notify({ ownerId, appId }: Concerned, topic: Topic, nouns: readonly string[]): void {
    for (const stream of this.#streams.get(ownerId) ?? [])
      if (sees(stream.listener, appId)) stream.send(topic, nouns)
  }

  /** Called when changes may have been missed. */
  notifyAll(): void {
    for (const streams of this.#streams.values()) {
      for (const stream of streams)
        for (const topic of ['change', 'activity'] as const) stream.send(topic, [everything])
    }
  }

  /** Ends the streams of an owner: their readers open them again, with the rights that they have now. */
  endStreamsOf(ownerId: string): void {
    for (const stream of this.#streams.get(ownerId) ?? []) stream.end()
  }

  /** Ends the streams whose session has ended and sends the others a heartbeat. */
  async sendHeartbeats(): Promise<void> {
    for (const stream of await this.#endClosed(() => true)) stream.sendHeartbeat()
  }

  /** Ends the streams of a vendor or a person whose session has ended. */
  async endClosed(id: string): Promise<void> {
    await this.#endClosed(({ ownerId, actorId }) => ownerId === id || actorId === id)
  }

  /** Returns the streams whose session is open. */
  async #endClosed(isConcerned: (listener: Listener) => boolean): Promise<EventStream[]> {
    const streams = [...this.#streams.values()]
      .flatMap((some) => [...some])
      .filter(({ listener }) => isConcerned(listener))
    if (streams.length === 0) return []
    const open = await listOpenSessions(
      this.#ctx,
      streams.map(({ listener }) => listener.sessionId),
    )
    const isOpen = ({ listener }: EventStream) => open.has(listener.sessionId)
    for (const stream of streams) if (!isOpen(stream)) stream.end()
    return streams.filter(isOpen)
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
    for (const streams of this.#streams.values()) for (const stream of streams) stream.end()
  }
}

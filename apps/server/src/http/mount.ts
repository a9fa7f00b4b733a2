import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import {
  type Access,
  acceptsIdempotencyKey,
  type BodyOf,
  type DataOf,
  type Endpoint,
  limits,
  type ParamsOf,
  type QueryOf,
} from '@keyward/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type CustomerActor,
  hasAllApps,
  lacksFactor,
  meets,
  needsPerson,
  type ResellerActor,
  type VendorActor,
} from '../core/actor.ts'
import { currentAgent, toAgent } from '../core/agent.ts'
import { FileAnswer, StreamAnswer, WithMessage } from '../core/answers.ts'
import { callerOf, currentCaller } from '../core/caller.ts'
import type { Clock } from '../core/clock.ts'
import type { Gates } from '../core/gate.ts'
import { requireProof } from '../core/identity.ts'
import { keysToSearch } from '../core/pasted-keys.ts'
import { type Problem, problem } from '../core/problem.ts'
import { visitorOf } from '../core/visitor.ts'
import type { Attempts } from '../service/attempts.ts'
import type { Answer, KeyedRequest } from '../service/idempotency.ts'
import type { WriteBudget } from '../service/write-budget.ts'
import { isBudgeted } from './budgeted.ts'
import { toKeyedRequest } from './idempotency-key.ts'
import { parseInput } from './input.ts'
import { announcedBytes, Turns } from './turns.ts'

/** Resolves a token to its actor; undefined without an open session of that kind. */
export interface Authenticators {
  owner(token: string, address: string): Promise<VendorActor | undefined>
  reseller(token: string, address: string): Promise<ResellerActor | undefined>
  customer(token: string, address: string): Promise<CustomerActor | undefined>
}

type SignedInAccess = 'owner' | 'reseller' | 'customer'
type SignedIn = VendorActor | ResellerActor | CustomerActor

type ActorOf<A extends Access> = A extends 'owner'
  ? VendorActor
  : A extends 'reseller'
    ? ResellerActor
    : A extends 'customer'
      ? CustomerActor
      : undefined

export interface Input<E extends Endpoint, A extends Access = Access> {
  params: ParamsOf<E>
  query: QueryOf<E>
  body: BodyOf<E>
  actor: ActorOf<A>
  /** The caller's address as rate limits count it; forwarded headers count only from trusted proxies. */
  address: string
  /** The raw body and headers, for signature checks. */
  sent: { body: Buffer; headers: IncomingHttpHeaders; stream: Readable }
}

type Handler<E extends Endpoint, A extends Access> = (
  input: Input<E, A>,
) => Promise<DataOf<E> | WithMessage<DataOf<E>> | FileAnswer | StreamAnswer>

/** What is known of a request whose body is not read yet. */
export type Unread = Pick<Input<Endpoint>, 'address'> & { params: unknown }

export type Mount = <A extends 'public' | SignedInAccess, E extends Endpoint & { access: Access }>(
  endpoint: E,
  access: A,
  handler: Handler<E, A>,
  /** Throws for a request whose body is not worth reading. */
  admit?: (request: Unread) => Promise<void>,
) => void

export interface MountOptions {
  authenticators: Authenticators
  clock: Clock
  gates: Gates
  budget: Pick<WriteBudget, 'check'>
  attempts: Pick<Attempts, 'refuseUnread'>
  /** Counts requests of an address without a session, and returns the problem once it sends too many. */
  countStranger: (address: string, requests: number) => Problem | undefined
  /** Does a request with an Idempotency-Key once, in the transactions of its actor. */
  once: (
    actor: VendorActor | ResellerActor,
    keyed: KeyedRequest,
    work: () => Promise<Answer>,
  ) => Promise<{ answer: Answer; isRepeat: boolean }>
  /** Validates every response against the contract; for tests. */
  checkAnswers: boolean
}

/** Mounts endpoints of the contract: authenticate, authorize, wait for a turn, parse, handle, respond. */
export function createMount(server: FastifyInstance, options: MountOptions): Mount {
  return (endpoint, access, handler, admit) => {
    if (endpoint.access !== access)
      throw new Error(`${endpoint.path} is for ${endpoint.access}, not for ${access}`)
    if ((access === 'owner') !== (endpoint.permission !== undefined))
      throw new Error(`${endpoint.path} must declare a permission exactly if it is for owners`)
    if (endpoint.confirm && access === 'public')
      throw new Error(`${endpoint.path} must not ask strangers for a proof of identity`)
    const actors = new WeakMap<FastifyRequest, SignedIn>()
    const bodyLimit = endpoint.bodyLimit ?? limits.bodyBytesMax
    const { method, path } = endpoint
    const acceptsKey = acceptsIdempotencyKey(endpoint)
    const send = (reply: FastifyReply, { data, message }: Answer) => {
      if (options.checkAnswers) endpoint.data.parse(data)
      reply.code(endpoint.status ?? 200)
      return { success: true, message, data }
    }
    const turns = new Turns(options.gates, {
      isJob: endpoint.job === true,
      bodyLimit: endpoint.streamed ? 0 : bodyLimit,
    })
    /** A large body counts as several requests; what else arrives on the connection of a flood stays unread. */
    const refuseFlood = (request: FastifyRequest, reply: FastifyReply): void => {
      const weight = Math.ceil(announcedBytes(request.headers, bodyLimit) / limits.bodyBytesMax)
      const flood = options.countStranger(visitorOf(request.ip), Math.max(1, weight))
      if (!flood) return
      refuseUnread(reply, flood)
    }
    server.route({
      method,
      url: `/api${path}`,
      bodyLimit,
      config: { raw: endpoint.raw, streamed: endpoint.streamed },
      onRequest: async (request, reply) => {
        if (access === 'public') refuseFlood(request, reply)
        if (endpoint.hashes) await options.attempts.refuseUnread(visitorOf(request.ip))
        if (access === 'public') {
          const { params, ip } = request
          return admit?.({ params, address: visitorOf(ip) }).catch((error) => refuseUnread(reply, error))
        }
        const token = bearerToken(request)
        const actor =
          token === undefined
            ? undefined
            : await options.authenticators[access as SignedInAccess](token, visitorOf(request.ip))
        if (!actor) throw problem('unauthorized')
        if (actor.kind === 'api_key' && needsPerson(endpoint)) throw problem('api_key_not_allowed')
        if (!meets(actor, endpoint.permission)) throw problem('permission_missing')
        if (endpoint.permission !== 'self' && lacksFactor(actor)) throw problem('second_factor_required')
        if (endpoint.allApps === true && !hasAllApps(actor)) throw problem('permission_missing')
        if (actor.kind !== 'customer') {
          requireProof(actor, endpoint.confirm, options.clock.now())
          if (isBudgeted(endpoint)) await options.budget.check(actor)
        }
        actors.set(request, actor)
        request.account = callerOf(actor).account
        await turns.take(request, reply, callerOf(actor))
      },
      handler: (request, reply) =>
        turns.during(request, async () => {
          const parsed = parseInput(endpoint, request)
          refuseByInput(endpoint, actors.get(request), parsed, options.clock.now())
          const keyed =
            acceptsKey && !isDryRun(parsed.body)
              ? toKeyedRequest(request.headers, { method, path, input: parsed })
              : undefined
          const input = {
            ...parsed,
            // Its own object: the steps of a request with an Idempotency-Key belong to its actor.
            actor: keyed ? { ...actors.get(request) } : actors.get(request),
            address: visitorOf(request.ip),
            sent: { body: request.rawBody ?? Buffer.alloc(0), headers: request.headers, stream: request.raw },
          } as unknown as Input<typeof endpoint, typeof access>
          const { actor } = input
          const run = () => {
            const agent = toAgent(request.headers['user-agent'])
            return currentAgent.run(agent, () =>
              orByKeyInText(input.query, (query) => handler({ ...input, query })),
            )
          }
          const handle = () => (actor ? currentCaller.run(callerOf(actor), run) : run())
          if (actor && keyed && actor.kind !== 'customer') {
            const { answer, isRepeat } = await options.once(actor, keyed, async () =>
              toAnswer(await handle()),
            )
            if (isRepeat) reply.header('idempotent-replay', 'true')
            return send(reply, answer)
          }
          const result = await handle()
          if (result instanceof FileAnswer) {
            turns.keepFor(result.content, request, reply)
            reply.type(result.type).header('content-disposition', `attachment; filename="${result.name}"`)
            return reply.send(result.content)
          }
          if (result instanceof StreamAnswer) {
            turns.end(request)
            return sendEvents(reply, result.content)
          }
          return send(reply, toAnswer(result))
        }),
    })
  }
}

/** Refuses a request whose body, which may go on arriving, is not read. */
function refuseUnread(reply: FastifyReply, error: unknown): never {
  reply.header('connection', 'close')
  throw error
}

/** Refuses what an actor may not do although it may make the call. */
function refuseByInput(
  { allApps, deleting = [], also = [] }: Endpoint,
  actor: SignedIn | undefined,
  { query, body }: { query?: unknown; body?: unknown },
  now: number,
): void {
  if (!actor) return
  const { app } = { ...(query as { app?: string }) }
  if (allApps === 'without app' && app === undefined && !hasAllApps(actor))
    throw problem('permission_missing')
  const { action = 'delete' } = { ...(body as { action?: string }) }
  const isDeleting = action === 'delete'
  if (isDeleting && !deleting.every((needed) => meets(actor, needed))) throw problem('permission_missing')
  const sent = { ...(body as Record<string, unknown>) }
  for (const { fields = [], permission, confirm } of also) {
    if (!fields.some((field) => sent[field] !== undefined)) continue
    if (!meets(actor, permission)) throw problem('permission_missing')
    if (actor.kind !== 'customer') requireProof(actor, confirm, now)
  }
}

/** Repeats a search that finds nothing with the keys in its text: people paste a sentence with the key of a customer. */
async function orByKeyInText<Query, Result>(
  query: Query,
  handle: (query: Query) => Promise<Result>,
): Promise<Result> {
  const result = await handle(query)
  const { search } = { ...(query as { search?: string }) }
  if (search === undefined || !foundNothing(result)) return result
  for (const key of keysToSearch(search)) {
    const found = await handle({ ...query, search: key })
    if (!foundNothing(found)) return found
  }
  return result
}

function foundNothing(result: unknown): boolean {
  const { pagination, ids } = result as { pagination?: { total: number }; ids?: unknown[] }
  return pagination?.total === 0 || ids?.length === 0
}

const toAnswer = (result: unknown): Answer =>
  result instanceof WithMessage ? { data: result.data, message: result.message } : { data: result }

/** A dry run changes nothing and leaves its key free. */
const isDryRun = (body: unknown): boolean => (body as { dryRun?: boolean } | undefined)?.dryRun === true

function sendEvents(reply: FastifyReply, content: Readable): FastifyReply {
  // A HEAD request or a disconnect reads nothing, so the source must be ended explicitly.
  reply.raw.once('close', () => content.destroy())
  return reply
    .type('text/event-stream; charset=utf-8')
    .headers({ connection: 'close', 'x-accel-buffering': 'no' })
    .send(content)
}

const scheme = 'bearer '

/** What it contains needs no check: a token that was not issued is not found. */
export function bearerToken({ headers: { authorization = '' } }: FastifyRequest): string | undefined {
  const token = authorization.slice(scheme.length)
  const isBearer = authorization.slice(0, scheme.length).toLowerCase() === scheme
  return isBearer && token.length >= 20 && token.length <= 1200 ? token : undefined
}

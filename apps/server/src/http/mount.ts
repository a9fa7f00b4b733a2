import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import {
  type Access,
  acceptsIdempotencyKey,
  type BodyOf,
  type DataOf,
  type Endpoint,
  isBudgeted,
  limits,
  type ParamsOf,
  type QueryOf,
  searchesText,
} from '@keyward/contract'
import type { FastifyInstance, FastifyReply } from 'fastify'
import {
  type CustomerActor,
  hasAllApps,
  lacksFactor,
  meets,
  needsPerson,
  type ResellerActor,
  requireProof,
  type VendorActor,
} from '../core/actor.ts'
import { FileAnswer, StreamAnswer, WithMessage } from '../core/answers.ts'
import type { Clock } from '../core/clock.ts'
import { callerOf, currentRequest } from '../core/networks/caller.ts'
import { keysToSearch } from '../core/pasted-keys.ts'
import { type Problem, problem } from '../core/problem.ts'
import type { Gates } from '../core/queues/gate.ts'
import type { Attempts } from '../service/attempts.ts'
import type { Answer, KeyedRequest } from '../service/idempotency.ts'
import type { WriteBudget } from '../service/write-budget.ts'
import { answerProblem } from './errors.ts'
import { announcedBytes, bodyReader, parseInput, toKeyedRequest } from './input.ts'
import { bearerToken, type Call, pipe, type Steps, toCall } from './pipe.ts'
import { createTurns, type Turn } from './turns.ts'

/** Resolves a token to its actor; undefined without an open session of that kind. */
export interface Authenticators {
  owner(token: string, address: string): Promise<VendorActor | undefined>
  reseller(token: string, address: string): Promise<ResellerActor | undefined>
  customer(token: string, address: string): Promise<CustomerActor | undefined>
}

type SignedInAccess = 'owner' | 'reseller' | 'customer'
type Holder = VendorActor | ResellerActor
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
    actor: Holder,
    keyed: KeyedRequest,
    work: (actor: Holder) => Promise<Answer>,
  ) => Promise<{ answer: Answer; isRepeat: boolean }>
  /** Validates every response against the contract; for tests. */
  checkAnswers: boolean
}

/** A stranger has no actor, and no step that looks at one. */
type AnyInput = Omit<Input<Endpoint>, 'actor'> & { actor: SignedIn }
type AnyHandler = (input: AnyInput) => Promise<unknown>
type Admit = (request: Unread) => Promise<void>

/** Mounts endpoints of the contract: each has the steps that its access and its fields ask for. */
export function createMount(server: FastifyInstance, options: MountOptions): Mount {
  return (endpoint, access, handler, admit) => {
    refuseMistakes(endpoint, access)
    const { method, path, raw } = endpoint
    const steps = toSteps(server, endpoint, handler as unknown as AnyHandler, { ...options, admit })
    server.route({ method, url: `/api${path}`, config: { raw }, handler: pipe(steps) })
  }
}

function refuseMistakes(endpoint: Endpoint, access: Access): void {
  if (endpoint.access !== access)
    throw new Error(`${endpoint.path} is for ${endpoint.access}, not for ${access}`)
  if ((access === 'owner') !== (endpoint.permission !== undefined))
    throw new Error(`${endpoint.path} must declare a permission exactly if it is for owners`)
  if ((endpoint.allApps === 'without app') !== (endpoint.appField !== undefined))
    throw new Error(`${endpoint.path} must declare the field that names an app exactly if it may be left out`)
  if (endpoint.confirm && access === 'public')
    throw new Error(`${endpoint.path} must not ask strangers for a proof of identity`)
}

function toSteps(
  server: FastifyInstance,
  endpoint: Endpoint,
  handler: AnyHandler,
  options: MountOptions & { admit: Admit | undefined },
): Steps<Call, SignedIn, AnyInput, unknown> {
  const { method, streamed, raw, hashes, bodyLimit = limits.bodyBytesMax } = endpoint
  const { clock, budget, admit } = options
  const work = searchesText(endpoint) ? orByKeyInText(handler) : handler
  const access = endpoint.access === 'public' ? undefined : (endpoint.access as SignedInAccess)
  const take = createTurns(options.gates, {
    isJob: endpoint.job === true,
    bodyLimit: streamed ? 0 : bodyLimit,
  })
  return {
    begin: toCall,
    headers: (call) => {
      call.reply.header('cache-control', 'no-store')
      if (!access) refuseFlood(call, bodyLimit, options)
      return hashes || admit ? refuseUnread(call, endpoint, options) : undefined
    },
    authenticate: access && ((call) => authenticate(call, options.authenticators[access])),
    authorize: access && ((actor) => authorize(actor, endpoint, clock.now())),
    budget: isBudgeted(endpoint) ? (actor) => budget.check(actor as Holder) : undefined,
    turn:
      access &&
      (({ request, reply }, actor) => {
        const caller = callerOf(actor)
        request.account = caller.account
        return take(request, reply, caller)
      }),
    body: method === 'GET' ? undefined : bodyReader(server, { limit: bodyLimit, raw, streamed }),
    parse: ({ request, address }, sent, actor) => {
      const { params, query, headers } = request
      const parsed = parseInput(endpoint, { params, query, body: sent?.value })
      const whole = { body: sent?.bytes ?? noBytes, headers, stream: request.raw }
      return { ...parsed, actor, address, sent: whole } as AnyInput
    },
    permit: access && ((actor, input) => permit(actor, input, endpoint, clock.now())),
    once: acceptsIdempotencyKey(endpoint)
      ? (call, input, handle) => once(call, input, endpoint, options, handle)
      : undefined,
    handle: (input) => {
      const caller = access && callerOf(input.actor)
      return currentRequest.run({ caller, userAgent: input.sent.headers['user-agent'] }, work, input)
    },
    answer: ({ reply }, result, turn) => {
      if (result instanceof FileAnswer) return sendFile(reply, result, turn)
      if (result instanceof StreamAnswer) return sendEvents(reply, result)
      const { data, message } = toAnswer(result)
      if (options.checkAnswers) endpoint.data.parse(data)
      reply.code(endpoint.status ?? 200)
      return { success: true, message, data }
    },
    refuse: (error, { request, reply }) => answerProblem(error, request, reply),
  }
}

const noBytes = Buffer.alloc(0)

/** A large body counts as several requests; what else arrives on the connection of a flood stays unread. */
function refuseFlood({ request, reply, address }: Call, bodyLimit: number, options: MountOptions): void {
  const weight = Math.ceil(announcedBytes(request.headers, bodyLimit) / limits.bodyBytesMax)
  const flood = options.countStranger(address, Math.max(1, weight))
  if (flood) closeAndThrow(reply, flood)
}

async function refuseUnread(
  { request, reply, address }: Call,
  { hashes }: Endpoint,
  { attempts, admit }: MountOptions & { admit: Admit | undefined },
): Promise<void> {
  if (hashes) await attempts.refuseUnread(address)
  await admit?.({ params: request.params, address }).catch((error) => closeAndThrow(reply, error))
}

/** The body, which may go on arriving, is not read. */
function closeAndThrow(reply: FastifyReply, error: unknown): never {
  reply.header('connection', 'close')
  throw error
}

async function authenticate(
  { request, address }: Call,
  find: (token: string, address: string) => Promise<SignedIn | undefined>,
): Promise<SignedIn> {
  const token = bearerToken(request)
  const actor = token === undefined ? undefined : await find(token, address)
  if (!actor) throw problem('unauthorized')
  return actor
}

/** Refuses what an actor may not do, whatever it sends. */
function authorize(actor: SignedIn, endpoint: Endpoint, now: number): void {
  if (actor.kind === 'api_key' && needsPerson(endpoint)) throw problem('api_key_not_allowed')
  if (!meets(actor, endpoint.permission)) throw problem('permission_missing')
  if (endpoint.permission !== 'self' && lacksFactor(actor)) throw problem('second_factor_required')
  if (endpoint.allApps === true && !hasAllApps(actor)) throw problem('permission_missing')
  if (actor.kind !== 'customer') requireProof(actor, endpoint.confirm, now)
}

/** Refuses what an actor may not do although it may make the call. */
function permit(
  actor: SignedIn,
  { query, body }: { query?: unknown; body?: unknown },
  { appField, deleting = [], actionField, also = [] }: Endpoint,
  now: number,
): void {
  const named = { ...(query as Record<string, unknown>) }
  if (appField && named[appField] === undefined && !hasAllApps(actor)) throw problem('permission_missing')
  const sent = { ...(body as Record<string, unknown>) }
  const isDeleting = actionField === undefined || sent[actionField] === 'delete'
  if (isDeleting && !deleting.every((needed) => meets(actor, needed))) throw problem('permission_missing')
  for (const { fields = [], permission, confirm } of also) {
    if (!fields.some((field) => sent[field] !== undefined)) continue
    if (!meets(actor, permission)) throw problem('permission_missing')
    if (actor.kind !== 'customer') requireProof(actor, confirm, now)
  }
}

async function once(
  { request, reply }: Call,
  input: AnyInput,
  { method, path, dryRun }: Endpoint,
  options: MountOptions,
  handle: (input: AnyInput) => unknown,
): Promise<unknown> {
  const { params, query, body } = input
  if (dryRun && (body as { dryRun?: boolean }).dryRun) return handle(input)
  const keyed = toKeyedRequest(request.headers, { method, path, input: { params, query, body } })
  if (!keyed) return handle(input)
  const work = async (actor: Holder) => toAnswer(await handle({ ...input, actor }))
  const { answer, isRepeat } = await options.once(input.actor as Holder, keyed, work)
  if (isRepeat) reply.header('idempotent-replay', 'true')
  return new WithMessage(answer.data, answer.message)
}

/** Repeats a search that finds nothing with the keys in its text: people paste a sentence with the key of a customer. */
const orByKeyInText =
  (handler: AnyHandler): AnyHandler =>
  async (input) => {
    const query = input.query as { search?: string }
    const result = await handler(input)
    if (query.search === undefined || !foundNothing(result)) return result
    for (const search of keysToSearch(query.search)) {
      const found = await handler({ ...input, query: { ...query, search } as AnyInput['query'] })
      if (!foundNothing(found)) return found
    }
    return result
  }

function foundNothing(result: unknown): boolean {
  const { pagination, ids } = result as { pagination?: { total: number }; ids?: unknown[] }
  return pagination?.total === 0 || ids?.length === 0
}

const toAnswer = (result: unknown): WithMessage<unknown> =>
  result instanceof WithMessage ? result : { data: result, message: undefined }

function sendFile(
  reply: FastifyReply,
  { content, type, name, headers }: FileAnswer,
  turn: Turn | undefined,
): undefined {
  turn?.keepFor(content, reply)
  if (name !== undefined) reply.header('content-disposition', `attachment; filename="${name}"`)
  reply.type(type).headers(headers).send(content)
}

function sendEvents(reply: FastifyReply, { content }: StreamAnswer): undefined {
  // A HEAD request or a disconnect reads nothing, so the source must be ended explicitly.
  reply.raw.once('close', () => content.destroy())
  reply
    .type('text/event-stream; charset=utf-8')
    .headers({ connection: 'close', 'x-accel-buffering': 'no' })
    .send(content)
}

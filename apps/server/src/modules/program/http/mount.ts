import {
  type BodyOf,
  canonicalLocale,
  type DataOf,
  type Endpoint,
  type MessageKey,
  type ParamsOf,
} from '@keyward/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { WithMessage } from '../../../core/answers.ts'
import { sha256 } from '../../../core/crypto.ts'
import { visitorOf } from '../../../core/networks/caller.ts'
import { problem, requireSession } from '../../../core/problem.ts'
import { after, type Soon } from '../../../core/queues/after.ts'
import { digestMatches } from '../../../core/signing/signing.ts'
import { toFailure, toProblem } from '../../../http/errors.ts'
import { bodyReader, parseInput, type Sent } from '../../../http/input.ts'
import { type Call as AnyCall, bearerToken, pipe, refuse, type Steps } from '../../../http/pipe.ts'
import type { Attempts } from '../../../service/attempts.ts'
import type { Ctx } from '../../../service/ctx.ts'
import type { ActivityLog } from '../../activity/activity.log.ts'
import { messageOf } from '../../apps/apps.messages.ts'
import { readLinks } from '../../licenses/buy-links.ts'
import { openSession } from '../checks/session.ts'
import type { AppFacts, SessionFacts } from '../facts/facts.ts'
import type { ProgramReads } from '../facts/reads.ts'
import type { ProgramSessions } from '../sessions/sessions.ts'
import { contextOf, isMessageKey, noteRefusal } from '../verdict/refusal.ts'
import type { AnswerSigner } from './signer.ts'

/** Input of a handler; `session` only on calls that require one. */
export interface Call<E extends Endpoint, Session> {
  params: ParamsOf<E>
  body: BodyOf<E>
  session: Session
  address: string
  /** The keys that the program pins, as it sent them. */
  pinned: string | undefined
  /** Sets the app whose key signs the response; call it as soon as the app is known. */
  signAs(app: AppFacts): void
  /** The app's text for a message, in the program's language. */
  textOf(key: MessageKey, reason?: string | null): Promise<string>
}

type Handler<E extends Endpoint, Session> = (
  call: Call<E, Session>,
) => Soon<DataOf<E> | WithMessage<DataOf<E>>>

export interface ProgramMount {
  program<E extends Endpoint>(endpoint: E, handler: Handler<E, undefined>): void
  session<E extends Endpoint>(endpoint: E, handler: Handler<E, SessionFacts>): void
}

interface Options {
  ctx: Ctx
  reads: ProgramReads
  sessions: ProgramSessions
  activity: ActivityLog
  signer: AnswerSigner
  attempts: Pick<Attempts, 'refuseUnread'>
  refuseFlood: (request: FastifyRequest) => Error | undefined
  checkAnswers: boolean
}

/** A call of a program on its way. */
class ProgramCall implements AnyCall {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly address: string
  /** What the body says, once it was read. */
  body: unknown = undefined
  /** The app whose key signs the answer. */
  app: AppFacts | undefined = undefined
  /** The language that the program named when it opened its session. */
  locale: string | null = null

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.request = request
    this.reply = reply
    this.address = visitorOf(request.ip)
  }
}

type Session = SessionFacts | undefined
type Input = Call<Endpoint, Session>
type ProgramSteps<Result = unknown> = Steps<ProgramCall, Session, Input, Result>

/** Mounts the endpoints of vendors' programs. Every response of a known app is signed, including errors. */
export function createProgramMount(server: FastifyInstance, options: Options): ProgramMount {
  const shared = toSharedSteps(options)
  const mount = (endpoint: Endpoint, handle: ProgramSteps['handle']) => {
    const { method, path, hashes } = endpoint
    const steps: ProgramSteps = {
      begin: shared.begin,
      headers: hashes
        ? (call) => shared.headers(call) ?? options.attempts.refuseUnread(call.address)
        : shared.headers,
      body: method === 'GET' ? undefined : bodyReader(server, { limit: endpoint.bodyLimit }),
      verify,
      session: endpoint.access === 'session' ? (call) => readSession(call, options) : undefined,
      parse: (call, sent, session) => toInput(call, sent, session, endpoint, options),
      handle,
      answer: (call, result) => toAnswer(call, result, endpoint, options),
      refuse: shared.refuse,
      sign: shared.sign,
    }
    server.route({ method, url: `/api${path}`, handler: pipe(steps) })
  }
  server.options('/api/client/*', pipe(preflight(shared, bodyReader(server))))
  // What is refused before its first step is signed, too.
  server.setErrorHandler((error, request, reply) => refuse(shared, shared.begin(request, reply), error))
  return {
    program: (endpoint, handler) => {
      if (endpoint.access !== 'program') throw new Error(`${endpoint.path} needs a session`)
      mount(endpoint, handler as unknown as ProgramSteps['handle'])
    },
    session: (endpoint, handler) => {
      if (endpoint.access !== 'session') throw new Error(`${endpoint.path} takes no session`)
      mount(endpoint, handler as unknown as ProgramSteps['handle'])
    },
  }
}

type SharedSteps = Required<Pick<ProgramSteps, 'begin' | 'headers' | 'refuse' | 'sign'>>

const toSharedSteps = (options: Options): SharedSteps => ({
  begin: (request, reply) => new ProgramCall(request, reply),
  headers: ({ request, reply }) => {
    reply.header('cache-control', 'no-store')
    const flood = options.refuseFlood(request)
    if (flood) throw flood
    return undefined
  },
  refuse: (error, call) => toRefusal(error, call, options),
  sign: ({ request, reply, app }, body) => app && options.signer.sign(request, reply, app, body),
})

const preflightHeaders = {
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers':
    'authorization, content-digest, content-type, keyward-app, keyward-keys, keyward-nonce',
  'access-control-max-age': '86400',
}

/** Answers the preflights of programs that run in a web page; the checks of every request send the other headers. */
const preflight = (
  shared: SharedSteps,
  body: ReturnType<typeof bodyReader>,
): Steps<ProgramCall, undefined, undefined, void> => ({
  ...shared,
  body,
  parse: () => undefined,
  handle: async () => {},
  answer: ({ reply }) => void reply.headers(preflightHeaders).code(204).send(),
})

/** Checks the nonce, and the digest of the body, which the program chose. */
function verify(call: ProgramCall, sent: Sent | undefined): void {
  call.body = sent?.value
  const { 'keyward-nonce': nonce, 'content-digest': digest } = call.request.headers
  if (nonce !== undefined && !/^[\x21-\x7e]{16,64}$/.test(String(nonce))) throw problem('invalid_nonce')
  if (typeof digest === 'string' && !digestMatches(digest, sent?.bytes ?? noBytes))
    throw problem('invalid_digest')
}

const noBytes = Buffer.alloc(0)

/** Resolves the session of a call; it must belong to the app in `Keyward-App`. */
function readSession(call: ProgramCall, { reads, sessions, ctx }: Options): Soon<SessionFacts> {
  const named = requireSession(String(call.request.headers['keyward-app'] ?? ''))
  const token = bearerToken(call.request)
  return after(token === undefined ? undefined : reads.session(sha256(token)), (stored) => {
    const isOfApp = stored !== undefined && (named === stored.app.appId || named === stored.app.id)
    return after(isOfApp ? stored.app : reads.app(named), (app) => {
      if (!app) throw problem('appDisabled')
      call.app = app
      const session = isOfApp || token === undefined ? stored : sessions.unseal(token, app)
      if (session) call.locale = session.locale
      return openSession(app, session, ctx.clock.now())
    })
  })
}

function toInput(
  call: ProgramCall,
  sent: Sent | undefined,
  session: Session,
  endpoint: Endpoint,
  { reads }: Options,
): Input {
  const { params, query, headers } = call.request
  const parsed = parseInput(endpoint, { params, query, body: sent?.value }) as Pick<Input, 'params' | 'body'>
  return {
    params: parsed.params,
    body: parsed.body,
    session,
    address: call.address,
    pinned: String(headers['keyward-keys'] ?? '') || undefined,
    signAs: (app) => {
      call.app = app
    },
    textOf: (key, reason) => textOf(call, reads, key, reason),
  }
}

function toAnswer(
  { request, reply }: ProgramCall,
  result: unknown,
  endpoint: Endpoint,
  { checkAnswers }: Options,
): object {
  const { data, message } = result instanceof WithMessage ? result : { data: result, message: undefined }
  if (checkAnswers) endpoint.data.parse(data)
  const { valid, code } = data as { valid?: boolean; code?: string }
  if (valid === false) request.failureCode = code
  reply.code(endpoint.status ?? 200)
  return { success: true, message, data }
}

async function toRefusal(
  error: unknown,
  call: ProgramCall,
  { ctx, reads, activity }: Pick<Options, 'ctx' | 'reads' | 'activity'>,
): Promise<object> {
  const { request, reply, body, address } = call
  const found = toProblem(error, request)
  if (!call.app && found.status !== 429 && found.status < 500) call.app = await claimedApp(call, reads)
  reply.code(found.status)
  if (found.retryAfterSeconds !== undefined) reply.header('retry-after', found.retryAfterSeconds)
  const failure = toFailure(found, request)
  const { code } = found
  if (!isMessageKey(code)) return failure
  const { app } = call
  const refusal = app && { app, code, path: request.routeOptions.url, body, address }
  const { linked, ...context } = contextOf(found)
  const links = app && linked && { links: await readLinks(ctx, app, linked) }
  return {
    ...failure,
    ...(links && { details: { ...found.details, ...links } }),
    message: await textOf(call, reads, code, found.reason),
    reference: refusal && noteRefusal(activity, refusal, context),
  }
}

/** The app that a failed call claims to belong to, so that the error can be signed. */
async function claimedApp(
  { request, body }: ProgramCall,
  reads: ProgramReads,
): Promise<AppFacts | undefined> {
  const sent = body as { appId?: unknown } | null | undefined
  const params = request.params as { appId?: unknown } | undefined
  const claim = request.headers['keyward-app'] ?? sent?.appId ?? params?.appId
  return typeof claim === 'string' && /^\w{1,64}$/.test(claim) ? reads.app(claim) : undefined
}

async function textOf(
  { app, locale, body }: ProgramCall,
  reads: ProgramReads,
  key: MessageKey,
  reason?: string | null,
): Promise<string> {
  const texts = app ? await reads.texts(app, locale ?? namedLocale(body)) : []
  return messageOf(texts, key, reason)
}

/** The language of a call that needs no session. */
function namedLocale(body: unknown): string | undefined {
  const named = (body as { locale?: unknown } | null | undefined)?.locale
  return typeof named === 'string' ? canonicalLocale(named) : undefined
}

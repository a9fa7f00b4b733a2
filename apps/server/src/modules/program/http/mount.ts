import type { BodyOf, DataOf, Endpoint, MessageKey, ParamsOf } from '@keyward/contract'
import { canonicalLocale, limits } from '@keyward/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { WithMessage } from '../../../core/answers.ts'
import { sha256 } from '../../../core/crypto.ts'
import { problem } from '../../../core/problem.ts'
import { digestMatches } from '../../../core/signing.ts'
import { visitorOf } from '../../../core/visitor.ts'
import { toFailure, toProblem } from '../../../http/errors.ts'
import { parseInput } from '../../../http/input.ts'
import { bearerToken } from '../../../http/mount.ts'
import type { Attempts } from '../../../service/attempts.ts'
import type { Ctx } from '../../../service/ctx.ts'
import type { ActivityLog } from '../../activity/activity.log.ts'
import { messageOf } from '../../apps/apps.messages.ts'
import { openSession } from '../checks/open-session.ts'
import type { AppFacts, SessionFacts } from '../facts/facts.ts'
import type { ProgramReads } from '../facts/reads.ts'
import type { ProgramSessions } from '../sessions/sessions.ts'
import { contextOf, isMessageKey, noteRefusal } from '../verdict/refusal.ts'
import type { AnswerSigner } from './signer.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The app whose key signs the response. */
    signingApp: AppFacts | undefined
    /** The language that the program named when it opened its session. */
    sessionLocale: string | undefined
  }
}

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
) => Promise<DataOf<E> | WithMessage<DataOf<E>>>

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
  checkAnswers: boolean
}

/** Mounts the endpoints of vendors' programs. Every response of a known app is signed, including errors. */
export function createProgramMount(server: FastifyInstance, options: Options): ProgramMount {
  server.decorateRequest('signingApp', undefined)
  server.decorateRequest('sessionLocale', undefined)

  async function answer(request: FastifyRequest, reply: FastifyReply, payload: object) {
    const app = request.signingApp
    const body = JSON.stringify(payload)
    reply.type('application/json; charset=utf-8')
    if (app) await options.signer.sign(request, reply, app, body)
    reply.send(body)
  }

  async function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    const found = toProblem(error, request)
    if (!request.signingApp && found.status !== 429 && found.status < 500) {
      const app = await claimedApp(request, options.reads)
      if (app) request.signingApp = app
    }
    reply.code(found.status)
    if (found.retryAfterSeconds !== undefined) reply.header('retry-after', found.retryAfterSeconds)
    const { signingApp: app, body, routeOptions, ip } = request
    const { code } = found
    if (!isMessageKey(code)) return answer(request, reply, toFailure(found, request))
    const refusal = app && { app, code, path: routeOptions.url, body, address: visitorOf(ip) }
    return answer(request, reply, {
      ...toFailure(found, request),
      message: await textOf(request, code, found.reason),
      reference: refusal && noteRefusal(options.activity, refusal, contextOf(found)),
    })
  }

  async function textOf(request: FastifyRequest, key: MessageKey, reason?: string | null) {
    const app = request.signingApp
    const texts = app ? await options.reads.texts(app, localeOf(request)) : []
    return messageOf(texts, key, reason)
  }

  server.setErrorHandler(refuse)

  function route<E extends Endpoint, Session>(
    endpoint: E,
    open: (request: FastifyRequest) => Promise<Session> | Session,
    handler: Handler<E, Session>,
  ) {
    server.route({
      method: endpoint.method,
      url: `/api${endpoint.path}`,
      bodyLimit: endpoint.bodyLimit ?? limits.bodyBytesMax,
      ...(endpoint.hashes && {
        onRequest: async ({ ip }: FastifyRequest) => options.attempts.refuseUnread(visitorOf(ip)),
      }),
      // Fastify would wait for a promise once more.
      handler: (request, reply) => {
        respond(request, reply).catch((error) => reply.send(error))
      },
    })
    async function respond(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      checkHeaders(request)
      const session = await open(request)
      const { params, body } = parseInput(endpoint, request) as Pick<Call<E, Session>, 'params' | 'body'>
      const result = await handler({
        params,
        body,
        session,
        address: visitorOf(request.ip),
        pinned: String(request.headers['keyward-keys'] ?? '') || undefined,
        signAs: (app) => {
          request.signingApp = app
        },
        textOf: (key, reason) => textOf(request, key, reason),
      })
      const { data, message } = result instanceof WithMessage ? result : { data: result, message: undefined }
      if (options.checkAnswers) endpoint.data.parse(data)
      const { valid, code } = data as { valid?: boolean; code?: string }
      if (valid === false) request.failureCode = code
      reply.code(endpoint.status ?? 200)
      await answer(request, reply, { success: true, message, data })
    }
  }

  return {
    program: (endpoint, handler) => {
      if (endpoint.access !== 'program') throw new Error(`${endpoint.path} needs a session`)
      route(endpoint, () => undefined, handler)
    },
    session: (endpoint, handler) => {
      if (endpoint.access !== 'session') throw new Error(`${endpoint.path} takes no session`)
      route(endpoint, (request) => readSession(request, options), handler)
    },
  }
}

/** Resolves the session of a call; it must belong to the app in `Keyward-App`. */
async function readSession(
  request: FastifyRequest,
  { reads, sessions, ctx }: Options,
): Promise<SessionFacts> {
  const named = request.headers['keyward-app']
  if (typeof named !== 'string' || named === '') throw problem('sessionUnauthed')
  const token = bearerToken(request)
  const stored = token === undefined ? undefined : await reads.session(sha256(token))
  const isOfApp = stored !== undefined && (named === stored.app.appId || named === stored.app.id)
  const app = isOfApp ? stored.app : await reads.app(named)
  if (!app) throw problem('appDisabled')
  request.signingApp = app
  const session = isOfApp ? stored : token !== undefined && sessions.unseal(token, app)
  if (session && session.locale !== null) request.sessionLocale = session.locale
  return openSession(app, session || undefined, ctx.clock.now())
}

function checkHeaders(request: FastifyRequest): void {
  const nonce = request.headers['keyward-nonce']
  if (nonce !== undefined && !/^[\x21-\x7e]{16,64}$/.test(String(nonce))) throw problem('invalid_nonce')
  const digest = request.headers['content-digest']
  if (typeof digest === 'string' && !digestMatches(digest, request.rawBody ?? Buffer.alloc(0))) {
    throw problem('invalid_digest')
  }
}

/** The app that a failed call claims to belong to, so that the error can be signed. */
async function claimedApp(request: FastifyRequest, reads: ProgramReads): Promise<AppFacts | undefined> {
  const body = request.body as { appId?: unknown } | null | undefined
  const params = request.params as { appId?: unknown } | undefined
  const claim = request.headers['keyward-app'] ?? body?.appId ?? params?.appId
  return typeof claim === 'string' && /^\w{1,64}$/.test(claim) ? reads.app(claim) : undefined
}

/** The language of the session, or of the call that needs none. */
function localeOf(request: FastifyRequest): string | undefined {
  if (request.sessionLocale !== undefined) return request.sessionLocale
  const named = (request.body as { locale?: unknown } | null | undefined)?.locale
  return typeof named === 'string' ? canonicalLocale(named) : undefined
}

import { type CompatibilityProtocol, compatibilityProtocols } from '@keyward/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { visitorOf } from '../../core/networks/caller.ts'
import { toProblem } from '../../http/errors.ts'
import type { Floods } from '../../http/flood-gate.ts'
import { bodyReader, type Sent } from '../../http/input.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { ProgramCalls } from '../program/program.service.ts'
import { Claims } from './compatibility.claims.ts'
import { OnlineUsers } from './compatibility.online.ts'
import { SeenPrograms } from './compatibility.seen.ts'
import { SessionTokens } from './compatibility.sessions.ts'
import type { Answer } from './endpoint/answers.ts'
import { refuseUnread, respond } from './endpoint/respond.ts'
import { readMultipart } from './wire/multipart.ts'
import { readForm } from './wire/text.ts'

export interface Compatibility {
  ctx: Ctx
  seen: SeenPrograms
  /** Mounts the endpoints; `refuseFlood` returns an error for an address that sends too many. */
  mount(server: FastifyInstance, floods: Floods): void
  close(): Promise<void>
}

interface Parts {
  ctx: Ctx
  calls: ProgramCalls
  consoleUrl: () => string
  onError: (error: unknown) => void
}

export function startCompatibility({ ctx, calls, consoleUrl, onError }: Parts): Compatibility {
  const seen = new SeenPrograms(ctx, onError)
  const claims = new Claims(ctx.database, ctx.seal)
  const online = new OnlineUsers(ctx)
  const tokens = new SessionTokens(ctx, calls.lifetimeMs)
  const deps = { ctx, calls, seen, claims, online, tokens, consoleUrl }
  return {
    ctx,
    seen,
    mount: (server, floods) => mountEndpoints(server, deps, floods),
    close: () => seen.flush(),
  }
}

type Deps = Omit<Parameters<typeof respond>[0], 'toProblem'>

function mountEndpoints(server: FastifyInstance, shared: Deps, floods: Floods): void {
  const depsOf = (request: FastifyRequest) => ({
    ...shared,
    toProblem: (error: unknown) => toProblem(error, request),
  })
  server.addHook('onRequest', (request, _reply, done) => done(floods.refuseUnread(request)))
  server.setErrorHandler(async (error, request, reply) => {
    const found = toProblem(error, request)
    send(reply, protocolOf(request), await refuseUnread(depsOf(request), protocolOf(request), found))
    return reply
  })
  const readBody = bodyReader(server, { raw: true })
  const outbox = new Outbox()
  for (const protocol of compatibilityProtocols) {
    // Domains that vendors had at the old system lead to paths without `/api`.
    for (const base of ['', '/api', '/api/apps/:id']) {
      for (const end of ['', '/']) {
        server.route({
          method: ['GET', 'POST'],
          url: `${base}/${protocol}${end}`,
          config: { raw: true },
          // Fastify would wait for a promise once more.
          handler: (request, reply) => {
            const handle = async () => {
              const body = await readBody({ request, reply })
              const flood = floods.refuseFlood(request)
              const path = (request.params as { id?: string }).id
              const address = visitorOf(request.ip)
              const sent = fieldsOf(request, body)
              return respond(depsOf(request), { protocol, path, sent, address, flood })
            }
            handle().then(
              (answer) => outbox.add(() => send(reply, protocol, answer)),
              (error) => reply.send(error),
            )
          },
        })
      }
    }
  }
}

/** Lets the answers of one turn leave together: on a busy machine each write alone would wake its reader. */
class Outbox {
  #waiting: (() => void)[] = []

  add(send: () => void): void {
    if (this.#waiting.push(send) === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    const due = this.#waiting
    this.#waiting = []
    for (const send of due) send()
  }
}

const protocolOf = (request: FastifyRequest): CompatibilityProtocol =>
  compatibilityProtocols.find((one) => request.routeOptions.url?.includes(`/${one}`)) ?? '1.2'

function send(reply: FastifyReply, protocol: CompatibilityProtocol, { body, headers }: Answer): void {
  reply
    .code(200)
    .headers({ ...headers, 'cache-control': 'no-store', 'access-control-allow-origin': '*' })
    .type(protocol === '1.0' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8')
    .send(body)
}

/** A field of the body wins over one of the query. */
function fieldsOf({ raw }: FastifyRequest, sent: Sent | undefined): ReadonlyMap<string, string> {
  const url = raw.url ?? ''
  const at = url.indexOf('?')
  const query = at === -1 ? new Map<string, string>() : readForm(url.slice(at + 1))
  const body = sent?.bytes.toString('utf8') ?? ''
  if (body === '') return query
  const isMultipart = /^\s*--/.test(body) && /form-data/i.test(body.slice(0, 1000))
  return new Map([...query, ...(isMultipart ? readMultipart(body) : readForm(body))])
}

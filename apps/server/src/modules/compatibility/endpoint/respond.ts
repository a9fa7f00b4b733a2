import type { CompatibilityProtocol } from '@keyward/contract'
import type { Problem } from '../../../core/problem.ts'
import type { Claims } from '../compatibility.claims.ts'
import { hashOf, toSession } from '../compatibility.sessions.ts'
import { type Answer, harmless, type Payload, toAnswer } from './answers.ts'
import type { CallDeps, SessionExchange } from './call.ts'
import { handlers, init } from './calls.ts'
import { type Exchange, field, rawField } from './exchange.ts'

export interface EndpointDeps extends CallDeps {
  claims: Claims
  /** Converts anything that was thrown. */
  toProblem(error: unknown): Problem
}

export interface Request {
  protocol: CompatibilityProtocol
  /** The app in the path; without one, name and owner id of the request name it. */
  path: string | undefined
  sent: ReadonlyMap<string, string>
  address: string
  /** Set if the address sends too many requests. */
  flood: Problem | undefined
}

/** Programs compare with this text before they parse an answer. */
const unknownApp: Answer = { body: 'KeyAuth_Invalid', headers: {} }

/** Answers a program; the answer always has a shape that its library can read. */
export async function respond(deps: EndpointDeps, request: Request): Promise<Answer> {
  const { protocol, sent, address } = request
  const exchange: Exchange = { protocol, sent, address, type: '' }
  exchange.type = (field(exchange, 'type') ?? '').toLowerCase()
  try {
    const answered = await handle(deps, exchange, request)
    return answered === 'unknown app' ? unknownApp : await toAnswer(deps.calls, exchange, answered)
  } catch (error) {
    const message = await refusal(deps, exchange, deps.toProblem(error))
    return toAnswer(deps.calls, exchange, { success: false, message: harmless(message) })
  }
}

async function handle(
  deps: EndpointDeps,
  exchange: Exchange,
  { path, flood }: Request,
): Promise<Payload | 'unknown app'> {
  const { calls, claims, tokens } = deps
  if (path !== undefined && !/^\w{1,64}$/.test(path)) return 'unknown app'
  const named = namedApp(exchange, path)
  if ('refusal' in named) return { success: false, message: named.refusal }
  const token = rawField(exchange, 'sessionid')
  const isInit = exchange.type === 'init'
  // Both reads run at once, and nothing returns before both have ended: a rejection that nobody awaits ends the process.
  const reading = token === undefined || isInit ? undefined : calls.readSession(hashOf(token))
  const [claim, stored] = await Promise.all([claims.find(named), reading])
  if (!claim?.protocols.includes(exchange.protocol)) return 'unknown app'
  exchange.claim = claim
  const isOfApp = stored?.app.id === claim.appId
  const app = isOfApp ? stored.app : await calls.findApp(claim.appId)
  if (!app) return 'unknown app'
  exchange.app = app
  const opened = token === undefined ? undefined : tokens.read(claim.appId, token)
  if (opened?.protocol === exchange.protocol) exchange.opened = opened
  if (flood) throw flood
  if (isInit) return init(deps, exchange)
  const handler = Object.hasOwn(handlers, exchange.type) ? handlers[exchange.type] : undefined
  if (!handler) return { success: false, message: unknownType(exchange) }
  if (token === undefined || !exchange.opened) return sessionNotFound
  const known = toSession(calls, app, token, {
    opened: exchange.opened,
    stored: isOfApp ? stored : undefined,
  })
  const session = openSession(deps, exchange, known)
  if (!session) return sessionNotFound
  if (hashing.has(exchange.type)) await calls.attempts.refuseUnread(exchange.address)
  return handler(deps, Object.assign(exchange, { session }) as SessionExchange)
}

/** Calls that hash a password for strangers: refused at once if they could only wait in place of others of their network. */
const hashing = new Set(['login', 'loginemail', 'register'])

function openSession(
  { calls }: EndpointDeps,
  { app }: Exchange,
  known: Parameters<typeof calls.openSession>[1],
) {
  try {
    return app && calls.openSession(app, known)
  } catch (error) {
    if ((error as Problem).code === 'sessionUnauthed') return undefined
    throw error
  }
}

const sessionNotFound: Payload = {
  success: false,
  message: 'Session not found. Use latest code. You can only have app opened 1 at a time.',
}

const unknownType = ({ protocol }: Exchange): string =>
  protocol === '1.0' ? 'Unhandled Type' : 'The value inputted for type paramater was not found'

function namedApp(exchange: Exchange, path: string | undefined) {
  if (path !== undefined) return { app: path }
  const ownerId = field(exchange, 'ownerid')
  const name = field(exchange, 'name')
  if (ownerId === undefined)
    return { refusal: 'No OwnerID specified. Select app & copy code snippet from the dashboard.' }
  if (name === undefined)
    return { refusal: 'No app name specified. Select app & copy code snippet from the dashboard.' }
  if (ownerId.length !== 10)
    return {
      refusal: 'OwnerID should be 10 characters long. Select app & copy code snippet from the dashboard.',
    }
  return { ownerId, name }
}

/** The calls of our own protocol, which name a refusal in the activity log. */
const ownNames: Record<string, string> = { check: 'session', var: 'session', loginemail: 'login' }

async function refusal({ calls }: EndpointDeps, exchange: Exchange, found: Problem): Promise<string> {
  const { app, type, address } = exchange
  if (!app) return found.message
  const call = ownNames[type] ?? type
  const sent = { username: field(exchange, 'username'), licenseKey: field(exchange, 'key') }
  return calls.refuse({ app, found, call, sent, address })
}

/** Where nothing is known of the request but its path. */
export const refuseUnread = (
  deps: EndpointDeps,
  protocol: CompatibilityProtocol,
  found: Problem,
): Promise<Answer> =>
  toAnswer(
    deps.calls,
    { protocol, sent: new Map(), address: '', type: '' },
    { success: false, message: harmless(found.message) },
  )

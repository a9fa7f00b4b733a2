import {
  type BodyInputOf,
  type Endpoint,
  email as emailSchema,
  endpoints,
  isPlaceholderId,
} from '@keyward/contract'
import { sha256 } from '../../../core/crypto.ts'
import { invalid, type Problem, problem } from '../../../core/problem.ts'
import { findNameByEmail } from '../../imports/imports.access.ts'
import { downloadOf } from '../../releases/releases.service.ts'
import { harmless, type Payload } from './answers.ts'
import { type CallDeps, type Handler, panelLink, type SessionExchange, seatedUser } from './call.ts'
import { type Exchange, field, hwidOf, rawField } from './exchange.ts'
import { toInfo } from './info.ts'
import { own } from './own.ts'

const enckeyMax = 35
const versionMax = 32
const hashMax = 256
const fiveTexts = 'N/A - Use fetchStats() function in latest example'

/** Opens a session. Each gets one of its own: two programs behind one address are no business of each other. */
export async function init({ ctx, calls, tokens }: CallDeps, exchange: Exchange): Promise<Payload> {
  const { app, protocol, address } = exchange
  if (!app) throw invalid('name', 'KeyAuth_Invalid')
  const enckey = field(exchange, 'enckey') ?? null
  const longest = protocol === '1.0' ? 64 : enckeyMax
  if (enckey !== null && enckey.length > longest) {
    return {
      success: false,
      message: `The paramater "enckey" is too long. Must be ${longest} characters or less.`,
    }
  }
  const sent = field(exchange, 'ver')?.slice(0, versionMax) ?? null
  const isAnother = sent !== null && isAnotherVersion(sent, app.version)
  // Releases and hashes are listed by the spelling of the app.
  const version = sent === null || isAnother ? sent : app.version
  const hash = field(exchange, 'hash')?.slice(0, hashMax)
  // A new build has a new version and a new hash: the program learns of the update, not of its hash.
  const judged = isAnother ? { ...app, checkHash: false } : app
  await calls.init(judged, { version: version ?? '', hash, address })
  if (isAnother) {
    return { success: false, message: 'invalidver', download: await downloadOf(ctx.db, app) }
  }
  const { token: sessionid, opened } = tokens.open(app, { protocol, enckey, version })
  exchange.opened = opened
  return {
    success: true,
    message: 'Initialized',
    sessionid,
    appinfo: {
      numUsers: fiveTexts,
      numOnlineUsers: fiveTexts,
      numKeys: fiveTexts,
      version: app.version,
      customerPanelLink: await panelLink(ctx, app),
    },
    ...(protocol !== '1.0' && protocol !== '1.1' && { newSession: true }),
  }
}

/** `1.0` of a shipped program is the `1.0.0` of its app. */
const isAnotherVersion = (program: string, app: string): boolean =>
  withoutZeros(program) !== withoutZeros(app)
const withoutZeros = (version: string): string => version.replace(/(\.0)+$/, '')

/** Reads fields as the call of our own protocol does. */
function parsed<E extends Endpoint>(endpoint: E, body: BodyInputOf<E>): BodyInputOf<E> {
  const result = endpoint.body?.safeParse(body)
  const issue = result?.error?.issues[0]
  if (issue) throw invalid(String(issue.path[0] ?? ''), issue.message)
  return result?.data as BodyInputOf<E>
}

const register: Handler = async (deps, exchange) => {
  const sent = parsed(endpoints.program.register, {
    username: field(exchange, 'username') ?? '',
    password: rawField(exchange, 'pass') ?? '',
    licenseKey: field(exchange, 'key') ?? '',
    hwid: hwidOf(exchange),
    // Programs send `none` and the like of end users who gave no address.
    email: emailSchema.safeParse(field(exchange, 'email')).data,
  })
  const { username, password, licenseKey, hwid, email } = sent
  const { session, address } = exchange
  const user = await deps.calls.register(session, { username, password, licenseKey, hwid, email, address })
  return signedIn(deps, exchange, user)
}

const login: Handler = async (deps, exchange) => {
  const { username, password, hwid } = parsed(endpoints.program.login, {
    username: field(exchange, 'username') ?? '',
    password: rawField(exchange, 'pass') ?? '',
    hwid: hwidOf(exchange),
  })
  const { session, address } = exchange
  return signedIn(deps, exchange, await deps.calls.login(session, { username, password, hwid, address }))
}

/** An address that is not known is refused like a wrong password: the answer does not reveal who is a customer. */
const loginEmail: Handler = async (deps, exchange) => {
  const { session, address } = exchange
  const sent = { password: rawField(exchange, 'pass') ?? '', hwid: hwidOf(exchange) }
  const email = emailSchema.safeParse(field(exchange, 'email')).data
  const found = email === undefined ? undefined : await findNameByEmail(deps.ctx.db, session.app, email)
  const { username, password, hwid } = parsed(endpoints.program.login, { username: found ?? '-', ...sent })
  const user = await deps.calls
    .login(session, { username, password, hwid, address })
    .catch((error: Problem) => {
      throw error.code === 'usernameNotFound' ? problem('passMismatch') : error
    })
  return signedIn(deps, exchange, user)
}

const license: Handler = async (deps, exchange) => {
  const { licenseKey, hwid } = parsed(endpoints.program.license, {
    licenseKey: field(exchange, 'key') ?? '',
    hwid: hwidOf(exchange),
  })
  const { session, address } = exchange
  return signedIn(deps, exchange, await deps.calls.license(session, { licenseKey, hwid, address }))
}

const upgrade: Handler = async ({ calls }, exchange) => {
  const { username, licenseKey } = parsed(endpoints.program.upgrade, {
    username: field(exchange, 'username') ?? '',
    licenseKey: field(exchange, 'key') ?? '',
  })
  await calls.upgrade(exchange.session, { username, licenseKey, address: exchange.address })
  return { success: true, message: 'Upgraded successfully' }
}

async function signedIn(
  { ctx, calls, seen }: CallDeps,
  exchange: SessionExchange,
  user: Parameters<typeof toInfo>[1],
): Promise<Payload> {
  const { session, address } = exchange
  const sent = hwidOf(exchange)
  const hwid = sent !== undefined && isPlaceholderId(sent) ? undefined : sent
  seen.note(session.app.id, hwid === undefined ? address : sha256(hwid))
  const message = harmless(await calls.textOf(session.app, 'loggedInMsg'))
  return { success: true, message, info: await toInfo(ctx, user, { hwid, address }) }
}

const check: Handler = async ({ calls, seen }, { session, address }) => {
  await calls.check(session, address)
  seen.note(session.app.id, session.hwidHash ?? address)
  return { success: true, message: 'Session is validated.', role: paidRole }
}

/** Programs in C++ stop checking, and never learn of a ban, unless the vendor's account is a paid one. */
const paidRole = 'seller'

/** The wrong way round in the old systems: a success means that the machine is blocked. */
const checkBlacklist: Handler = async ({ calls }, exchange) => {
  const { session, address } = exchange
  const isBlocked = await calls.isBlocked(session.app, { hwid: hwidOf(exchange), address })
  return { success: isBlocked, message: isBlocked ? 'Client is blacklisted' : 'Client is not blacklisted' }
}

/** The value is in `message`. */
const variable: Handler = async ({ calls }, exchange) => {
  const { session, address } = exchange
  const name = field(exchange, 'varid') ?? field(exchange, 'var') ?? ''
  const open = await calls.publicVariables(session.app)
  if (Object.hasOwn(open, name)) return { success: true, message: open[name] ?? '' }
  const endUser = await seatedUser(calls, session, address)
  const own = await calls.variablesOf(session.app, endUser)
  if (Object.hasOwn(own, name)) return { success: true, message: own[name] ?? '' }
  return { success: false, message: 'Variable not found.' }
}

const logout: Handler = async ({ calls }, { session, address }) => {
  await calls.logout(session, address)
  return { success: true, message: 'Successfully logged out.' }
}

const notOffered =
  (message: string, more: Partial<Payload> = {}): Handler =>
  async () => ({ success: false, message, ...more })

/** The calls that need a session, by their names in small letters. */
export const handlers: Record<string, Handler> = {
  register,
  login,
  loginemail: loginEmail,
  license,
  upgrade,
  check,
  checkblacklist: checkBlacklist,
  checkblack: checkBlacklist,
  var: variable,
  logout,
  ...own,
  file: notOffered('File not Found'),
  webhook: notOffered('Webhook Not Found.'),
  // Programs in C++ go through the messages without a look at `success`.
  chatget: notOffered('Chat is not available.', { success: true, messages: [] }),
  chatsend: notOffered('Chat channel not found'),
  '2faenable': notOffered('Two-factor sign-in is not available.'),
  '2fadisable': notOffered('2fa is not enabled on this account'),
}

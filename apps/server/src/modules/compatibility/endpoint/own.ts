import { clientVariable } from '@keyward/contract'
import { allApps } from '../../../core/actor.ts'
import { day, minute } from '../../../core/clock.ts'
import { normalizeEmail, normalizeName } from '../../../core/ids.ts'
import type { Allowance } from '../../../service/attempts.ts'
import { sentHash, toMachine } from '../../devices/devices.rules.ts'
import { findById, findByUsername } from '../../end-users/end-users.access.ts'
import { banByProgram, renameByProgram } from '../../end-users/end-users.by-program.ts'
import { mailPasswordLink } from '../../end-users/end-users.password.ts'
import { countEndUsers } from '../../end-users/end-users.service.ts'
import { confirmImportedEmail } from '../../imports/imports.access.ts'
import { countLicenses } from '../../licenses/licenses.service.ts'
import { readClientVariables, setVariableByProgram } from '../../variables/variables.service.ts'
import { readSignedIn } from '../compatibility.repo.ts'
import { type CallDeps, type Handler, panelLink, type SessionExchange, seatedUser } from './call.ts'
import { field, hwidOf, rawField } from './exchange.ts'

// Calls about the signed-in end user, and figures of the app.

const refused = (message: string) => ({ success: false, message })

/** Changes of one end user by its programs: each stores a record. */
const changes: Allowance = { name: 'changes by programs', max: 600, windowMs: 60 * minute }
/** Names are few, and one that someone has is taken for all others. */
const renames: Allowance = { name: 'renames by programs', max: 10, windowMs: day }

/** The signed-in end user with a program's right to write, in the turn of its app. */
function change(
  { calls }: CallDeps,
  { session, address }: SessionExchange,
  allowance: Allowance,
  work: (actor: ReturnType<typeof calls.toActor>, endUserId: string) => Promise<void>,
): Promise<void> {
  return calls.inTurn(session, address, async () => {
    const { id } = await calls.allowedUser(session, address)
    await calls.attempts.count(allowance, session.app.id, id)
    await work(calls.toActor(session, address), id)
  })
}

const reasonMax = 99

/** A program can block only the machine that it is signed in on. */
const ban: Handler = async (deps, exchange) => {
  const reason = field(exchange, 'reason') ?? null
  if ((reason?.length ?? 0) > reasonMax) return refused(`Reason must be ${reasonMax} characters or less`)
  await change(deps, exchange, changes, async (actor, id) => {
    const { hwidHash } = exchange.session
    const sent = hwidOf(exchange) ?? (await readSignedIn(deps.ctx.db, id))?.hwid
    const machine = toMachine(exchange.session.app.appId, sent || undefined, undefined)
    const isSignedIn = machine && [machine.hash, machine.sentHash].includes(sentHash(hwidHash ?? ''))
    await banByProgram(deps.ctx, actor, id, { reason, hwid: isSignedIn ? machine.hwid : undefined })
  })
  return { success: true, message: 'Successfully Banned User' }
}

const dataMax = 500

const setVariable: Handler = async (deps, exchange) => {
  const name = field(exchange, 'var')
  const value = rawField(exchange, 'data')
  if (name === undefined) return refused('No variable name provided')
  if (value === undefined) return refused('No variable data provided')
  if (value.length > dataMax) return refused(`Variable data must be ${dataMax} characters or less`)
  const variable = clientVariable.safeParse({ name, value })
  if (variable.error) return refused(variable.error.issues[0]?.message ?? 'Variable is not allowed')
  await change(deps, exchange, changes, (actor, id) =>
    setVariableByProgram(deps.ctx, actor, id, variable.data),
  )
  return { success: true, message: 'Successfully set variable' }
}

const getVariable: Handler = async ({ ctx, calls }, exchange) => {
  const { session, address } = exchange
  const name = field(exchange, 'var')
  const { id } = await seatedUser(calls, session, address)
  const own = await readClientVariables(ctx, id)
  const found = own?.variables.find((variable) => variable.name === name)
  if (!found) return refused('Variable not found for user')
  return { success: true, message: 'Successfully retrieved variable', response: found.value }
}

const logMax = 275

const log: Handler = async ({ calls }, exchange) => {
  const { session, address } = exchange
  const message = (field(exchange, 'message') ?? '').slice(0, logMax)
  const computer = field(exchange, 'pcuser')?.slice(0, 100)
  if (message !== '') calls.log(session, { text: message, detail: { message, computer }, address })
  return { success: true, message: 'Logged.' }
}

/** The names of end users without a password are their keys, so nothing of them is shown. */
const fetchOnline: Handler = async ({ calls, online }, { session, address }) => {
  await calls.allowedUser(session, address)
  const found = await online.read(session.app.id)
  if (found.count === 0) return refused('No online users found!')
  const users = found.users.map(({ username, hasPassword }) => ({
    credential: masked(username, hasPassword ? 10 : 0),
  }))
  return { success: true, message: 'Successfully fetched online users.', users }
}

const masked = (name: string, shown: number): string => {
  const letters = [...name]
  return letters.slice(0, shown).join('') + '*'.repeat(Math.max(0, letters.length - shown))
}

const fetchStats: Handler = async ({ ctx, online }, { session }) => {
  const { app } = session
  const scope = allApps(app.ownerId)
  const endUsers = await countEndUsers(ctx, scope, app.id)
  const licenses = await countLicenses(ctx, scope, { appId: app.id })
  const { count } = await online.read(app.id)
  const appinfo = {
    numUsers: String(endUsers.total),
    numOnlineUsers: String(count),
    numKeys: String(licenses.total),
    version: app.version,
    customerPanelLink: await panelLink(ctx, app),
  }
  return { success: true, message: 'Successfully fetched stats', appinfo }
}

const changeUsername: Handler = async (deps, exchange) => {
  const { session, address } = exchange
  const username = field(exchange, 'newUsername') ?? ''
  const shortest = session.app.usernameMin
  await change(deps, exchange, renames, (actor, id) =>
    renameByProgram(deps.ctx, actor, id, { username, shortest }),
  )
  await deps.calls.logout(session, address)
  return { success: true, message: 'Successfully changed username, user logged out.' }
}

/** Names and addresses that one address may try. */
const forgotten: Allowance = { name: 'forgotten password', max: 10, windowMs: 60 * minute }

const forgot: Handler = async ({ ctx, calls, consoleUrl }, exchange) => {
  const { session, address } = exchange
  const { app } = session
  const { attempts } = calls
  await attempts.count(forgotten, app.id, address)
  const named = await findByUsername(ctx.db, app.id, normalizeName(field(exchange, 'username') ?? ''))
  const found = named && (await findById(ctx.db, app.id, named.id))
  if (!found) return refused('No user found with that username!')
  const typed = field(exchange, 'email') ?? ''
  const actor = calls.toActor(session, address)
  const email = found.email ?? (await confirmImportedEmail(ctx, actor, found.id, typed))
  if (email === undefined)
    return refused('Email address not provided during register, ask the vendor for help.')
  if (email === null || normalizeEmail(email) !== normalizeEmail(typed)) {
    return refused("Email address doesn't match!")
  }
  await calls.inTurn(session, address, async () => {
    await mailPasswordLink({ ctx, attempts, consoleUrl }, actor, found.id)
  })
  return { success: true, message: 'Successfully sent email to change password.' }
}

export const own: Record<string, Handler> = {
  ban,
  setvar: setVariable,
  getvar: getVariable,
  log,
  fetchonline: fetchOnline,
  fetchstats: fetchStats,
  changeusername: changeUsername,
  forgot,
}

import type { Client, License, SessionUser, Verdict } from '@keyward/contract'
import { second } from '../src/core/clock.ts'
import type { TestServer } from './harness.ts'
import { type Step, stepsOf } from './histories.ts'
import { begin, type Run } from './history-app.ts'
import { hwidOf, perform, say, signInAgain } from './history-steps.ts'

/** A step, with its license and end user as they were before. */
export interface Done extends Step {
  isDone: boolean
  license: License | undefined
  user: Client | undefined
}

/** Runs a history: the text has each step with its answer, and what the server says otherwise than before. */
export async function runHistory(on: TestServer, number: number): Promise<{ text: string; done: Done[] }> {
  const steps = stepsOf(number)
  const run = await begin(on, number, steps)
  const lines = [`history ${number} from ${on.clock.inDays(0)}`]
  const done: Done[] = []
  let before = new Map<string, string>()
  for (const [at, step] of steps.entries()) {
    const { kind, ...about } = step
    const license = run.licenses.get(step.licenses?.[0] ?? '')
    const user = run.users.get(step.users?.[0] ?? '')
    const { said, isDone } = await perform(run, step, at + 1)
    done.push({ ...step, isDone, license, user })
    lines.push(`${at + 1} ${kind} ${JSON.stringify(about)}: ${said}`)
    const now = await look(run, before)
    for (const [what, told] of [...now].toSorted())
      if (before.get(what) !== told) lines.push(`  ${what}: ${told}`)
    for (const what of before.keys()) if (!now.has(what)) lines.push(`  ${what}: gone`)
    before = now
    // Rows of different steps have different times, so that lists have one order.
    on.clock.advance(second)
  }
  return { text: `${lines.join('\n')}\n`, done }
}

/** Everything that the server says about what may be used, by what it is about. */
async function look(run: Run, before: Map<string, string>): Promise<Map<string, string>> {
  const { vendor, app } = run
  const query = `app=${app._id}&limit=200`
  const [{ licenses, stats }, { clients, stats: ofUsers }] = await Promise.all(
    ['licenses', 'clients'].map(async (noun) => (await vendor.call('GET', `/${noun}?${query}`)).json.data),
  )
  run.licenses = byName<License>(run.keys, licenses, ({ key }) => key)
  run.users = byName<Client>(run.usernames, clients, ({ username }) => username)
  for (const [name, { _id }] of [...run.licenses, ...run.users]) run.ids.set(name, _id)
  const seen = new Map([...run.orders, ['licenses', say(stats)], ['end users', say(ofUsers)]])
  for (const [name, license] of run.licenses) seen.set(name, ofLicense(run, license))
  for (const [name, user] of run.users) seen.set(name, ofUser(run, user))
  const setAll = (names: Iterable<string>, what: string, said: (name: string) => Promise<string>) =>
    Promise.all([...names].map(async (name) => seen.set(`${name} ${what}`, await said(name))))
  // Before the keys are validated: signing in again may bind a device, which changes the answer.
  await setAll(run.users.keys(), 'program', (name) => session(run, name))
  await setAll(run.licenses.keys(), 'validate', async (name) => {
    const said = before.get(`${name} validate`)
    // The key is unused and unchanged.
    const isSame = !run.licenses.get(name)?.used && seen.get(name) === before.get(name)
    return isSame && said !== undefined ? said : validate(run, name)
  })
  return seen
}

/** Rows by the names that steps use, in the order of these. */
function byName<Row>(names: Map<string, string>, rows: Row[], textOf: (row: Row) => string) {
  const byText = new Map(rows.map((row) => [textOf(row), row]))
  const found = new Map<string, Row>()
  for (const [name, text] of names) {
    const row = byText.get(text)
    if (row) found.set(name, row)
    byText.delete(text)
  }
  if (byText.size > 0) throw new Error(`no step names ${[...byText.keys()].join(' and ')}`)
  return found
}

const nameOf = (names: Map<string, string>, text: string | null | undefined) =>
  [...names].find(([, one]) => one === text)?.[0]

function ofLicense(run: Run, license: License): string {
  const { status, added, banned, banReason, expiresAt, startedAt, duration } = license
  return say({
    [status]: true,
    of: license.usedBy && nameOf(run.usernames, license.usedBy.username),
    ...{ added, banned, reason: banReason, test: license.test },
    ends: expiresAt,
    ...{ grace: license.graceDays, inGrace: license.inGrace, term: license.term },
    duration: duration && `${duration.value} ${duration.unit}`,
    started: startedAt,
    ...{ devices: license.devices, seats: license.seats, features: license.features.join(' ') },
    ...{ updatesDays: license.updatesForDays, updatesUntil: license.updatesUntil },
    type: license.type?.name,
  })
}

function ofUser(run: Run, user: Client): string {
  const { status, ban, banReason, paused, expiresAt, graceDays, inGrace, licenseKey } = user
  return say({
    [status]: true,
    ...{ ban, reason: banReason, paused, ends: expiresAt, grace: graceDays, inGrace },
    key: nameOf(run.keys, licenseKey),
  })
}

/** What the program of an end user gets; once its session has ended, from signing in again. */
async function session(run: Run, name: string): Promise<string> {
  const program = run.programs.get(name)
  const answer = await program?.call('GET', '/session')
  const isOpen = answer !== undefined && answer.json.code !== 'sessionUnauthed'
  const { json } = isOpen ? answer : await signInAgain(run, name)
  if (!json.success) return say({ [json.code]: true, ...ofRefusal(json.details) })
  const user: SessionUser = json.data.user
  const { expiresAt, inGrace, term, devices, seat, features, updatesUntil, updateAvailable } = user
  return say({
    ...{ ok: true, ends: expiresAt, inGrace, term, devices: `${devices.used}/${devices.limit}` },
    ...{ seat: seat !== null, features: features.join(' '), updatesUntil, updateAvailable },
  })
}

async function validate(run: Run, name: string): Promise<string> {
  const { key: licenseKey, usedBy } = run.licenses.get(name) ?? {}
  const hwid = hwidOf(run, nameOf(run.usernames, usedBy?.username))
  const body = { appId: run.app.appId, licenseKey, hwid }
  const verdict: Verdict = (await run.on.call('POST', '/client/validate', { body })).json.data
  const { valid, activated, code, license, details } = verdict
  const { used, expiresAt, inGrace, term } = license ?? {}
  const about = { activated, used, ends: expiresAt, inGrace, term, ...ofRefusal(details) }
  return say({ [code ?? 'valid']: valid || code !== undefined, ...about })
}

/** What a refusal says beside its code. */
function ofRefusal(details: Verdict['details']) {
  if (!details) return {}
  const { expiresAt, startedAt, devices, seats, until } = details
  return {
    ...{ ended: expiresAt, started: startedAt, devices: `${devices.used}/${devices.limit}` },
    ...{ seats: seats && `${seats.used}/${seats.limit}`, until },
  }
}

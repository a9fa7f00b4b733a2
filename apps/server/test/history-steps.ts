import { hour } from '../src/core/clock.ts'
import { startProgram } from './actors.ts'
import { isTold, type Kind, type Step } from './histories.ts'
import type { Run } from './history-app.ts'
import { told } from './history-model.ts'
import { allUsed, ordersOf, sell } from './shop-actor.ts'

const password = 'swordfish'

interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked by what is read of them
  json?: any
}

/** Takes a step, and returns what the server says; it refuses a step that names what is missing. */
export async function perform(run: Run, step: Step, number: number) {
  const answer = await (isTold(step)
    ? tell(run, step)
    : performers[step.kind as keyof typeof performers](run, step))
  const data = answer.json?.data ?? {}
  if (data.undo) run.undos.set(number, { noun: nounOf(step), rows: data.undo })
  const { changed, changedLicenses, created, skipped } = data
  const reasons = Array.isArray(skipped) && skipped.map(({ reason }) => reason).toSorted()
  const details = say({ changed, changedLicenses, created, skipped: reasons ? reasons.join(' ') : skipped })
  return {
    said: [answer.status, answer.json?.code, details].filter(Boolean).join(' '),
    isDone: answer.status < 300 && changed !== 0 && created !== 0,
  }
}

type Value = string | number | boolean | null | undefined
/** The values that say something. */
export const say = (values: Record<string, Value>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '')
    .map(([name, value]) => (value === true ? name : `${name} ${value}`))
    .join(', ')

const nounOf = ({ users }: Step) => (users ? 'clients' : 'licenses')
const idsOf = (run: Run, { users, licenses }: Step) =>
  (users ?? licenses ?? []).map((name) => run.ids.get(name) ?? 'missing')
const pathOf = (run: Run, step: Step, rest = '') => `/${nounOf(step)}/${idsOf(run, step)[0]}${rest}`
const keyOf = (run: Run, { licenses = [] }: Step) => run.keys.get(licenses[0] ?? '') ?? 'MISSING-KEY'
const nameOf = ({ users = [] }: Step) => users[0] ?? ''
const endOf = (run: Run, { end }: Step) =>
  end === undefined ? {} : { expiresAt: end === null ? null : run.on.clock.inDays(end) }

const bulk =
  (action: string) =>
  (run: Run, step: Step): Promise<Answer> =>
    run.vendor.call('POST', `/${nounOf(step)}/bulk`, {
      ...{ action, ids: idsOf(run, step), ...endOf(run, step), ...step.more },
    })
const patch =
  (rest: string, body: object = {}) =>
  (run: Run, step: Step): Promise<Answer> =>
    run.vendor.call('PATCH', pathOf(run, step, rest), { ...body, ...endOf(run, step), ...step.more })
const put = (run: Run, step: Step): Promise<Answer> =>
  run.vendor.call('PUT', pathOf(run, step), {
    ...(step.type && { type: run.typeIds[step.type] }),
    ...{ ...endOf(run, step), ...step.more },
  })
const remove = (run: Run, step: Step): Promise<Answer> => run.vendor.call('DELETE', pathOf(run, step))

/** Calls as a program, which stays that of the end user once it has signed in. */
async function signIn(run: Run, step: Step, path: string, body: object): Promise<Answer> {
  const program = await startProgram(run.on, run.app)
  const answer = await program.call('POST', path, { ...body, ...step.more })
  const username: string | undefined = answer.json.data?.user.username
  if (username === undefined) return answer
  const known = [...run.usernames].find(([, one]) => one === username)?.[0]
  const name = known ?? freeName(run, nameOf(step))
  run.usernames.set(name, username)
  if (known === undefined && path === '/trial') run.keys.set(step.licenses?.[0] ?? '', username)
  run.programs.set(name, program)
  run.hwids.set(name, step.more?.hwid)
  return answer
}

/** A name for an end user; after a refused step the name of another one, with a stroke. */
const freeName = (run: Run, name: string): string =>
  run.usernames.has(name) ? freeName(run, `${name}'`) : name

export const hwidOf = ({ hwids }: Run, name = ''): unknown => hwids.get(name) ?? 'pc-1'

/** Signs an end user in with its password, or with the key that it is named after. */
export function signInAgain(run: Run, name: string, more = { hwid: hwidOf(run, name) }): Promise<Answer> {
  const username = run.usernames.get(name) ?? 'nobody'
  const step: Step = { kind: 'login', users: [name], more }
  return run.withPassword.has(name)
    ? signIn(run, step, '/login', { username, password })
    : signIn(run, step, '/license', { licenseKey: username })
}

const performers: Record<Exclude<Kind, keyof typeof told>, (run: Run, step: Step) => Promise<Answer>> = {
  generate: async (run, step) => {
    const { licenses = [], type, more } = step
    const body = { app: run.app._id, count: licenses.length, ...endOf(run, step), ...more }
    const answer = await run.vendor.call('POST', '/licenses', {
      ...{ ...body, ...(type && { type: run.typeIds[type] }) },
    })
    for (const [at, name] of licenses.entries()) run.keys.set(name, answer.json.data.licenses[at].key)
    return answer
  },
  import: (run, step) => {
    const { licenses = [], more } = step
    for (const name of licenses) if (!run.keys.has(name)) run.keys.set(name, `IMPORTED-${name}`)
    const cells = more?.cells as Record<string, string>[]
    const rows = licenses.map((name, at): Record<string, string> => {
      const end = cells[at]?.type ? undefined : (endOf(run, step).expiresAt ?? undefined)
      return { key: run.keys.get(name) ?? '', ...(end && { expiresAt: end }), ...cells[at] }
    })
    const columns = [...new Set(['expiresAt', ...rows.flatMap((row) => Object.keys(row))])]
    const csv = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))]
    const body = { app: run.app._id, csv: csv.map((line) => line.join(',')).join('\n') }
    return run.vendor.call('POST', '/licenses/import', body)
  },
  register: (run, step) => {
    const username = `user-${nameOf(step)}`
    run.withPassword.add(nameOf(step))
    return signIn(run, step, '/register', { username, password, licenseKey: keyOf(run, step) })
  },
  signIn: (run, step) => signIn(run, step, '/license', { licenseKey: keyOf(run, step) }),
  login: (run, step) => signInAgain(run, nameOf(step), step.more as { hwid: string }),
  trial: (run, step) => signIn(run, step, '/trial', {}),
  createUser: async (run, step) => {
    const username = `user-${nameOf(step)}`
    const user = { username, password, appId: run.app._id }
    run.withPassword.add(nameOf(step))
    run.usernames.set(nameOf(step), username)
    return run.vendor.call('POST', '/clients/create-direct', { ...user, ...endOf(run, step) })
  },
  upgrade: async (run, step) => {
    const program = await startProgram(run.on, run.app)
    const username = run.usernames.get(nameOf(step)) ?? 'nobody'
    return program.call('POST', '/upgrade', { username, licenseKey: keyOf(run, step) })
  },
  attach: (run, step) => {
    const license = run.ids.get(step.licenses?.[0] ?? '') ?? 'missing'
    return run.vendor.call('POST', pathOf(run, step, '/licenses'), { license })
  },
  extendLicense: bulk('extend'),
  extendUser: patch('/extend'),
  setEnd: put,
  setUserEnd: patch(''),
  setRights: put,
  banLicense: patch('/toggle-ban', { is_banned: true }),
  unbanLicense: patch('/toggle-ban', { is_banned: false }),
  banUser: patch('/toggle-ban', { is_banned: true }),
  unbanUser: patch('/toggle-ban', { is_banned: false }),
  pause: patch('/toggle-pause', { paused: true }),
  resume: patch('/toggle-pause', { paused: false }),
  deleteLicense: remove,
  deleteUser: remove,
  changeType: put,
  editType: (run, { type = 'basic', more }) =>
    run.vendor.call('PUT', `/license-types/${run.typeIds[type]}`, more),
  bulkExtend: bulk('extend'),
  bulkEnd: bulk('extend'),
  bulkBan: bulk('ban'),
  bulkUnban: bulk('unban'),
  undo: async (run, { of = 0 }) => {
    const { noun, rows } = run.undos.get(of) ?? { noun: 'licenses', rows: [] }
    return run.vendor.call('POST', `/${noun}/bulk/undo`, { undo: rows })
  },
  decide: async (run, { order = '', more }) => {
    const answer = await run.vendor.call('POST', `/orders/${run.ids.get(order) ?? 'missing'}/retry`, more)
    await lookAtOrder(run, order)
    return answer
  },
  release: (run, step) =>
    run.vendor.call('POST', `/apps/${run.app._id}/releases`, {
      ...{ version: '1.0.0', releasedAt: run.on.clock.inDays(step.end ?? 0) },
    }),
  pass: async (run, { hours = 0 }) => {
    run.on.clock.advance(hours * hour)
    return { status: 200 }
  },
}

/** Sends an event of the shop about an order, and waits until it has been used. */
async function tell(run: Run, step: Step): Promise<Answer> {
  const { on, shop } = run
  const { order = '', kind, more: { product, quantity, ...more } = {} } = step
  const { expiresAt: until } = endOf(run, step)
  const lines = [{ product, quantity }]
  const bought = kind === 'paid' ? { email: 'ada@example.com', amount: 1000, lines } : { product }
  const data = { order, until, ...bought, ...more }
  if (!shop) throw new Error('the app has no shop')
  const status = await sell(on, shop, {
    type: told[kind as keyof typeof told],
    timestamp: on.clock.inDays(0),
    data,
  })
  await allUsed(on, shop._id, { interval: 1 })
  await lookAtOrder(run, order)
  return { status }
}

/** Notes what became of an order, and names its licenses as steps do. */
async function lookAtOrder({ vendor, app, ids, keys, orders }: Run, order: string): Promise<void> {
  const [found] = await ordersOf(vendor, `app=${app._id}&search=${order}`)
  if (!found) return
  ids.set(order, found._id)
  orders.set(order, say({ [found.state]: true, reason: found.reasonCode }))
  const known = new Set(keys.values())
  const added: { key: string }[] = found.licenses.filter(({ key }: { key: string }) => !known.has(key))
  // A license that was deleted keeps its name.
  const before = [...keys.keys()].filter((name) => name.startsWith(`${order}.`)).length
  for (const [at, { key }] of added.entries()) keys.set(`${order}.${before + at + 1}`, key)
}

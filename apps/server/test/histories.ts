// Histories of licenses and end users: the same steps for the same number, on every machine and in every version.
import { History, type Order, type Parts, told, typeNames } from './history-model.ts'

const aboutLicense = (more?: (history: History) => Parts) => (history: History) => {
  const license = history.license()
  return license && { licenses: [license.name], ...more?.(history) }
}
const aboutUser = (more?: (history: History) => Parts) => (history: History) => {
  const user = history.user()
  return user && { users: [user.name], ...more?.(history) }
}
/** About what the last step of this kind was about, mostly. */
const asBefore =
  (kind: string, otherwise: (history: History) => Parts | undefined) =>
  (history: History): Parts | undefined => {
    const last = history.steps.findLast((step) => step.kind === kind)
    if (!last || history.chance(20)) return otherwise(history)
    return last.users ? { users: last.users } : { licenses: last.licenses ?? [] }
  }
const reason = (history: History): Parts =>
  history.chance(50) ? { more: { reason: history.pick(['Chargeback', 'Shared key']) } } : {}

const withOrder = (tell: (history: History, order: Order) => Parts | undefined) => (history: History) => {
  const order = history.find(history.orders)
  const parts = order && tell(history, order)
  return parts && { order: order.name, ...parts }
}
const payment = (history: History, order: Order) =>
  history.chance(80) ? { payment: history.pick(order.payments) } : {}

/** Each kind of step, and what it is about; undefined where nothing fits. */
const draws = {
  generate: (history: History) => {
    const names = Array.from({ length: history.pick([1, 1, 1, 2, 3]) }, () => history.addLicense())
    if (history.chance(60)) {
      const type = history.pick(typeNames)
      for (const license of history.licenses.slice(-names.length)) license.type = type
      return { licenses: names, type }
    }
    if (history.chance(50)) return { licenses: names, more: { duration: history.duration() } }
    return { licenses: names, end: history.pick([3, 10, 30, 30, 90, null]) }
  },
  import: (history: History) => {
    const again = history.find(history.licenses.filter(({ isDeleted }) => isDeleted))
    if (again) again.isDeleted = false
    const names = again ? [again.name] : [history.addLicense(), history.addLicense()]
    const more = { cells: names.map(() => history.pick(importedCells)) }
    return { licenses: names, end: history.pick([2, 20, 60]), more }
  },
  register: (history: History) => {
    const license = history.unused()
    return (
      license && {
        users: [history.addUser(license)],
        licenses: [license.name],
        more: { hwid: history.hwid() },
      }
    )
  },
  signIn: (history: History) => {
    const license = history.chance(70) ? history.unused() : history.license()
    if (!license) return undefined
    const user = license.user ?? history.addUser(license)
    return { users: [user], licenses: [license.name], more: { hwid: history.hwid() } }
  },
  login: aboutUser((history) => ({ more: { hwid: history.hwid() } })),
  trial: (history: History) => {
    const name = history.addLicense()
    const license = history.licenses.at(-1)
    return { users: [history.addUser(license)], licenses: [name], more: { hwid: history.hwid() } }
  },
  createUser: (history: History) => ({
    users: [history.addUser()],
    end: history.pick([3, 10, 30, 60, null]),
  }),
  upgrade: (history: History) => {
    const [user, license] = [history.user(), history.unused()]
    if (!user || !license) return undefined
    license.user ??= user.name
    return { users: [user.name], licenses: [license.name] }
  },
  attach: (history: History): Parts | undefined => draws.upgrade(history),
  extendLicense: aboutLicense((history) =>
    history.chance(50)
      ? { more: { days: history.days() } }
      : { more: { duration: history.duration(), ...(history.chance(30) && { timeZone: 'Europe/Berlin' }) } },
  ),
  extendUser: aboutUser((history) => ({ more: { days: history.days() } })),
  setEnd: aboutLicense((history) => ({ end: history.end() })),
  setUserEnd: aboutUser((history) => ({ end: history.end() })),
  setRights: aboutLicense((history) => ({
    more: history.pick([
      { devices: 1 },
      { devices: 5 },
      { features: ['own'] },
      { features: [], devices: -1 },
    ]),
  })),
  banLicense: aboutLicense(reason),
  unbanLicense: asBefore('banLicense', aboutLicense()),
  banUser: aboutUser(reason),
  unbanUser: asBefore('banUser', aboutUser()),
  pause: aboutUser(),
  resume: asBefore('pause', aboutUser()),
  deleteLicense: (history: History) => {
    const license = history.license()
    if (license) license.isDeleted = true
    return license && { licenses: [license.name] }
  },
  deleteUser: (history: History) => {
    const user = history.user()
    if (!user) return undefined
    user.isDeleted = true
    for (const license of history.licenses) if (license.user === user.name) license.user = undefined
    return { users: [user.name] }
  },
  changeType: aboutLicense((history) => ({
    type: history.pick(typeNames),
    more: history.pick([{}, { end: 'later' }, { end: 'type' }, { end: 'keep' }]),
  })),
  editType: (history: History) => {
    const edits: Record<string, unknown>[] = [{ devices: 4 }, { features: ['base', 'new'] }, { graceDays: 5 }]
    edits.push(
      { graceDays: 0 },
      { updatesForDays: 30 },
      { updatesForDays: null },
      { seats: 3 },
      { seats: null },
    )
    const applyTo = history.chance(75) ? 'all' : 'new'
    const type = history.pick(typeNames)
    if (type !== 'life') edits.push({ duration: { value: 20, unit: 'days' } })
    return { type, more: { ...history.pick(edits), applyTo } }
  },
  bulkExtend: (history: History) =>
    history.several(() => ({
      more: history.chance(50) ? { days: history.days() } : { duration: history.duration() },
    })),
  bulkEnd: (history: History) =>
    history.several(() => ({ end: history.end(), ...(history.chance(60) && { more: { shorten: true } }) })),
  bulkBan: (history: History) => history.several(() => reason(history)),
  bulkUnban: asBefore('bulkBan', (history) => history.several(() => ({}))),
  undo: (history: History) => {
    const undoable = history.steps.flatMap(({ kind }, at) => (isUndoable(kind) ? at + 1 : []))
    const last = history.chance(75) ? undoable.at(-1) : history.find(undoable)
    return last === undefined ? undefined : { of: last }
  },
  paid: (history: History) => {
    const order = { name: `O${history.orders.length + 1}`, payments: ['p1'] }
    history.orders.push(order)
    const product = history.pick(typeNames)
    const quantity = history.pick([1, 1, 2])
    const licenses = Array.from({ length: quantity }, (_, at) =>
      history.addLicense(`${order.name}.${at + 1}`),
    )
    return { order: order.name, licenses, more: { product, quantity, payment: 'p1' } }
  },
  renewed: withOrder((history, order) => {
    order.payments.push(`p${order.payments.length + 1}`)
    return { end: history.until(), more: { payment: order.payments.at(-1), amount: 1000 } }
  }),
  changed: withOrder((history) => ({ end: history.until(), more: { product: history.pick(typeNames) } })),
  failed: withOrder((history, order) => ({ more: payment(history, order) })),
  ended: withOrder(() => ({})),
  refunded: withOrder((history, order) => ({ more: payment(history, order) })),
  refundedMiddle: withOrder((history, { payments }) =>
    payments.length < 3 ? undefined : { more: { payment: history.pick(payments.slice(1, -1)) } },
  ),
  refundedPart: withOrder((history, order) => ({
    more: { ...payment(history, order), amount: history.pick([300, 600, 700]) },
  })),
  decide: withOrder((history) => {
    const waits = history.steps.some(({ kind }) => kind === 'refundedPart') || history.chance(10)
    return waits ? { more: { choice: history.pick(['keep', 'ban']) } } : undefined
  }),
  disputed: withOrder((history, order) => ({ more: payment(history, order) })),
  won: withOrder((history, order) => ({ more: payment(history, order) })),
  release: (history: History) => ({ end: history.pick([0, 20, 40, 70]) }),
  pass: (history: History) => {
    const used = history.find(history.licenses.filter(({ user, type }) => user && type))
    const inGrace = { team: 245, pro: 24 * 33 }[used?.type as 'team' | 'pro']
    if (inGrace && history.chance(50)) return { hours: inGrace }
    return { hours: history.pick([1, 5, 13, 24, 37, 72, 72, 169, 241, 480, 24 * 31, 24 * 62]) }
  },
}
export type Kind = keyof typeof draws
export interface Step extends Parts {
  kind: Kind
}
export const isTold = ({ kind }: Step): boolean => Object.hasOwn(told, kind)
export const kinds = Object.keys(draws) as Kind[]

const isUndoable = (kind: string) => /^(bulk|setEnd$|extendLicense$)/.test(kind)

/** Cells of an imported row after its key and end. */
const importedCells = [
  { features: 'base print', devices: '2' },
  { graceDays: '3', features: 'print' },
  { type: 'pro' },
  { type: 'life' },
  { banned: 'true', banReason: 'Old ban' },
]

/** How often kinds come beside the tales. */
const weights: Partial<Record<Kind, number>> = {
  ...{ generate: 7, register: 6, signIn: 6, upgrade: 8, pass: 10, undo: 5, login: 2, trial: 2, bulkUnban: 5 },
  ...{
    banLicense: 3,
    unbanLicense: 3,
    banUser: 3,
    paid: 2,
    renewed: 4,
    changed: 4,
    failed: 4,
    won: 4,
    decide: 6,
  },
}
const weighted = kinds.flatMap((kind) => Array<Kind>(weights[kind] ?? 2).fill(kind))

/** What belongs together; other steps come in between. */
const tales: Kind[][] = [
  ['generate', 'register'],
  ['generate', 'signIn', 'upgrade'],
  ['generate', 'register', 'pause', 'pass', 'resume', 'upgrade'],
  ['generate', 'generate', 'register', 'upgrade', 'pause', 'resume'],
  ['generate', 'generate', 'register', 'signIn', 'bulkExtend', 'undo'],
  ['generate', 'generate', 'register', 'upgrade', 'bulkExtend', 'undo'],
  ['generate', 'generate', 'signIn', 'bulkEnd', 'undo'],
  ['generate', 'register', 'bulkBan', 'undo'],
  ['generate', 'signIn', 'bulkBan', 'pass', 'bulkUnban'],
  ['generate', 'register', 'changeType', 'pass'],
  ['generate', 'generate', 'register', 'upgrade', 'editType'],
  ['generate', 'generate', 'register', 'upgrade', 'deleteLicense'],
  ['generate', 'generate', 'register', 'upgrade', 'banLicense', 'unbanLicense'],
  ['generate', 'generate', 'signIn', 'attach', 'pass', 'banLicense', 'pass', 'unbanLicense'],
  ['generate', 'register', 'deleteUser', 'signIn'],
  ['generate', 'createUser', 'attach'],
  ['generate', 'generate', 'register', 'pass', 'upgrade'],
  ['generate', 'generate', 'register', 'upgrade', 'setEnd', 'pass'],
  ['generate', 'generate', 'signIn', 'pass', 'attach'],
  ['generate', 'register', 'pause', 'setUserEnd', 'resume'],
  ['generate', 'generate', 'register', 'extendUser', 'upgrade'],
  ['generate', 'register', 'paid', 'upgrade', 'renewed', 'ended'],
  ['generate', 'generate', 'register', 'upgrade', 'extendLicense', 'undo'],
  ['generate', 'generate', 'signIn', 'upgrade', 'deleteLicense', 'deleteLicense'],
  ['generate', 'register', 'paid', 'upgrade', 'refunded'],
  ['generate', 'trial', 'upgrade'],
  ['import', 'signIn', 'deleteLicense', 'import'],
  ['generate', 'register', 'setEnd', 'undo'],
  ['paid', 'signIn', 'pass', 'renewed', 'refunded'],
  ['paid', 'renewed', 'renewed', 'refundedMiddle', 'pass'],
  ['paid', 'signIn', 'renewed', 'pass', 'renewed', 'refundedMiddle'],
  ['paid', 'register', 'disputed', 'won'],
  ['paid', 'signIn', 'refundedPart', 'decide'],
  ['paid', 'refundedPart', 'decide', 'signIn'],
  ['paid', 'renewed', 'changed', 'failed'],
  ['paid', 'generate', 'register', 'upgrade', 'renewed', 'ended'],
  ['generate', 'register', 'release', 'pass'],
]

/** The steps of a history by its number. */
export function stepsOf(number: number): Step[] {
  const history = new History(number)
  const add = (kind: Kind): void => {
    const parts = draws[kind](history)
    if (parts) history.steps.push({ kind, ...parts })
  }
  const tale = [...history.pick(tales)]
  const length = 6 + history.below(9)
  for (let tries = 0; history.steps.length < length - 1 && tries < 60; tries += 1) {
    const next = tale.length > 0 && history.chance(65) ? tale.shift() : undefined
    add(next ?? (history.steps.length === 0 ? 'generate' : history.pick(weighted)))
  }
  history.steps.push({ kind: 'pass', hours: history.pick([25, 24 * 8, 24 * 20, 24 * 35, 24 * 70]) })
  return history.steps as Step[]
}

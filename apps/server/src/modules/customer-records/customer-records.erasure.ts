import type { VendorActor } from '../../core/actor.ts'
import { formsOfEmail } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import { forgetInRecords } from '../../db/erasures.ts'
import { inSlices, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { forgetAddress, forgetEndUser, forgetSubject } from '../activity/activity.erasure.ts'
import type { ActivityLog } from '../activity/activity.log.ts'
import { deleteCustomer } from '../customers/customers.access.ts'
import {
  awaitEvents,
  endErasure,
  erasureLeaseMs,
  noteErasure,
  renewErasure,
} from '../customers/erasures.access.ts'
import { findNamedCustomer } from '../customers/faces.access.ts'
import { forgetEmail, forgetUsername } from '../end-users/end-users.erasure.ts'
import { removeEndUser } from '../end-users/end-users.service.ts'
import { takeFromCustomer } from '../entitlements/license-rows.ts'
import { expireImportFiles, forgetImportedEmail, forgetImportedUser } from '../imports/imports.access.ts'
import { forgetBuyer, forgetWaiting } from '../shops/shops.erasure.ts'
import { forgetInDeliveries } from '../webhooks/webhooks.erasure.ts'
import * as repo from './customer-records.repo.ts'

export interface ErasureParts {
  ctx: Ctx
  activity: Pick<ActivityLog, 'drain'>
}

/** Whom a part of an erasure removes, and the licenses that stay. */
export interface Person {
  /** Normalized. */
  email: string
  endUsers: { id: string; username: string; address: string | null }[]
  licenses: string[]
}

/** Who asks for an erasure, as its records say. */
export type Eraser = Pick<VendorActor, 'kind' | 'actorId' | 'sessionId' | 'address'>

/** What is stored of a part, encrypted, so that another process can finish it. */
export interface StoredPart {
  person: Person
  by: Eraser
}

/** Erases a person. The customer goes last, so that an erasure that was interrupted goes on from what is left. */
export async function eraseCustomer(parts: ErasureParts, actor: VendorActor, named: string): Promise<void> {
  const { ctx } = parts
  const id = await ctx.tx(actor, async ({ tx }) => {
    const found = await findNamedCustomer(tx, actor, named)
    if (found === undefined) throw problem('not_found')
    return found
  })
  const renew = () => ctx.tx(actor, (write) => renewErasure(write, id), { isStep: false })
  // A renewal that fails lets another process do the same once more, which changes nothing.
  const renewing = setInterval(() => void renew().catch(() => {}), erasureLeaseMs / 3)
  try {
    await erase(parts, actor, id)
  } finally {
    clearInterval(renewing)
  }
}

async function erase({ ctx, activity }: ErasureParts, actor: VendorActor, id: string): Promise<void> {
  let person: Person
  let count = 0
  const found = new Set<string>()
  do {
    person = await ctx.tx(actor, (write) => beginPart(ctx, write, actor, id))
    count += person.endUsers.length
    for (const license of person.licenses) found.add(license)
    await eraseEndUsers({ ctx, activity }, actor, person)
  } while (person.endUsers.length === endUsersMost)
  const { email } = person
  const licenses = [...found]
  await inSlices(ctx, actor, async (write, size) => ({
    found: await forgetEmail(write, actor, email, size),
  }))
  await inSlices(ctx, actor, async ({ tx }, size, at = 0) => {
    const license = licenses[at]
    if (license === undefined) return { found: 0, mark: at }
    await takeFromCustomer(tx, actor, license, email)
    return { found: size, changed: 1, mark: at + 1 }
  })
  await forgetWaiting(ctx, actor, email)
  await inSlices(ctx, actor, async (write, size) => ({
    found: await forgetBuyer(write, actor, { customerId: id, email }, size),
  }))
  await ctx.tx(actor, async (write) => {
    await forgetUsername(write, actor, email)
    await expireImportFiles(write.tx, actor)
    await forgetImportedEmail(write.tx, actor, email)
    if (!(await deleteCustomer(write.tx, actor, id))) throw problem('not_found')
    // Orders that have arrived meanwhile.
    await forgetBuyer(write, actor, { customerId: id, email }, ordersMost)
    await endErasure(write, id)
    write.record('customer.erased', id, { endUsers: count, licenses: licenses.length })
  })
}

/** Reads whom the next part removes, and stores that. */
async function beginPart(ctx: Ctx, write: WriteTransaction, actor: VendorActor, id: string): Promise<Person> {
  await awaitEvents(write.tx, actor)
  const person = await readPerson(write.tx, actor, id)
  const { kind, actorId, sessionId, address } = actor
  const stored: StoredPart = { person, by: { kind, actorId, sessionId, address } }
  const content = JSON.stringify(stored)
  await noteErasure(write, ctx.seal, actor, { customerId: id, email: person.email, content })
  return person
}

async function readPerson(tx: Tx, actor: VendorActor, id: string): Promise<Person> {
  const customer = await repo.lockCustomer(tx, actor, id)
  if (!customer) throw problem('not_found')
  const endUsers = await repo.listEndUsers(tx, actor, id, endUsersMost)
  return {
    email: customer.email_normalized,
    endUsers: endUsers.map((row) => ({ id: row.id, username: row.username, address: row.last_address })),
    licenses: await repo.listLicenseIds(tx, actor, id),
  }
}

/** Deletes end users, whose names are found nowhere afterwards: what names them is emptied first, and again at the end. */
async function eraseEndUsers(
  { ctx, activity }: ErasureParts,
  actor: VendorActor,
  person: Person,
): Promise<void> {
  const { endUsers } = person
  const texts = textsOf(person)
  await forgetWritten(ctx, actor, person)
  await inSlices(ctx, actor, async (write, size, at = 0) => {
    const endUser = endUsers[at]
    if (!endUser) return { found: 0, mark: at }
    await forgetInRecords(write.tx, actor.ownerId, endUser.id, texts)
    await forgetImportedUser(write.tx, endUser.id)
    await removeEndUser(write, actor, endUser.id)
    return { found: size, changed: 1, mark: at + 1 }
  })
  await activity.drain()
  await forgetWritten(ctx, actor, person)
}

/** Empties what events, records and deliveries say of a person. */
export async function forgetWritten(ctx: Ctx, actor: VendorActor, person: Person): Promise<void> {
  const { endUsers, licenses } = person
  const texts = textsOf(person)
  const targets = [...licenses, ...endUsers.map(({ id }) => id)]
  await forgetEvents(ctx, actor, person)
  await inSlices(ctx, actor, async ({ tx }, size, at = 0) => {
    const target = targets[at]
    if (target === undefined) return { found: 0, mark: at }
    await forgetInRecords(tx, actor.ownerId, target, texts)
    return { found: size, changed: 1, mark: at + 1 }
  })
  await forgetInDeliveries(ctx, actor, texts)
}

const textsOf = ({ email, endUsers }: Person): string[] => [
  ...formsOfEmail(email),
  ...endUsers.flatMap((one) => [one.id, one.username.toLowerCase()]),
]

/** End users that are erased together. */
const endUsersMost = 200
const ordersMost = 10_000

async function forgetEvents(ctx: Ctx, actor: VendorActor, { email, endUsers }: Person): Promise<void> {
  const forget = (one: typeof forgetSubject, what: string) =>
    inSlices(ctx, actor, async ({ tx }, size) => ({ found: await one(tx, actor, what, size) }))
  for (const { id } of endUsers) await forget(forgetEndUser, id)
  for (const name of new Set([...formsOfEmail(email), ...endUsers.map(({ username }) => username)]))
    await forget(forgetSubject, name)
  for (const address of new Set(endUsers.flatMap((endUser) => endUser.address ?? [])))
    await forget(forgetAddress, address)
}

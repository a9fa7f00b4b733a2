import type { VendorActor } from '../../core/actor.ts'
import { formsOfEmail } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import { inSlices, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
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
import type { Description, ErasedPerson, Person } from '../description.ts'
import { removeEndUser } from '../end-users/end-users.service.ts'
import * as repo from './customer-records.repo.ts'

export interface ErasureParts {
  ctx: Ctx
  activity: Pick<ActivityLog, 'drain'>
  modules: readonly Description[]
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

async function erase(parts: ErasureParts, actor: VendorActor, id: string): Promise<void> {
  const { ctx } = parts
  let person: Person
  let count = 0
  const found = new Set<string>()
  do {
    person = await ctx.tx(actor, (write) => beginPart(ctx, write, actor, id))
    count += person.endUsers.length
    for (const license of person.licenses) found.add(license)
    await eraseEndUsers(parts, actor, toErased(person, id))
  } while (person.endUsers.length === endUsersMost)
  const erased = { ...toErased(person, id), licenses: [...found] }
  const steps = parts.modules.flatMap(({ erasure }) => erasure ?? [])
  for (const step of steps) await step.person?.(ctx, actor, erased)
  await ctx.tx(actor, async (write) => {
    for (const step of steps) await step.last?.(write, actor, erased)
    if (!(await deleteCustomer(write.tx, actor, id))) throw problem('not_found')
    for (const step of steps) await step.late?.(write, actor, erased)
    await endErasure(write, id)
    write.record('customer.erased', id, { endUsers: count, licenses: found.size })
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
async function eraseEndUsers(parts: ErasureParts, actor: VendorActor, person: ErasedPerson): Promise<void> {
  const { ctx, activity, modules } = parts
  await forgetWritten(parts, actor, person)
  await inSlices(ctx, actor, async (write, size, at = 0) => {
    const endUser = person.endUsers[at]
    if (!endUser) return { found: 0, mark: at }
    for (const { erasure } of modules) await erasure?.endUser?.(write, actor, endUser.id, person)
    await removeEndUser(write, actor, endUser.id)
    return { found: size, changed: 1, mark: at + 1 }
  })
  await activity.drain()
  await forgetWritten(parts, actor, person)
}

/** Empties what events, records and deliveries say of a person. */
export async function forgetWritten(
  { ctx, modules }: ErasureParts,
  actor: VendorActor,
  person: ErasedPerson,
): Promise<void> {
  for (const { erasure } of modules) await erasure?.written?.(ctx, actor, person)
}

export const toErased = (person: Person, id: string): ErasedPerson => ({
  ...{ ...person, id },
  texts: [
    ...formsOfEmail(person.email),
    ...person.endUsers.flatMap((one) => [one.id, one.username.toLowerCase()]),
  ],
})

/** End users that are erased together. */
const endUsersMost = 200

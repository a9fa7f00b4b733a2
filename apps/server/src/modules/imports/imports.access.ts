import { createHash } from 'node:crypto'
import { email as emailSchema } from '@keyward/contract'
import { sql } from 'kysely'
import type { OwnerScope, ProgramActor } from '../../core/actor.ts'
import { formsOfEmail, normalizeEmail } from '../../core/ids.ts'
import { type Db, inScope, type Tx } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { lockEndUser } from '../end-users/end-users.access.ts'
import { updateEndUser } from '../entitlements/end-user-rows.ts'

/** Takes the name of an end user that is erased from reports. */
export async function forgetImportedUser(tx: Tx, clientId: string): Promise<void> {
  await tx
    .updateTable('data_import_rows')
    .set({ name: '', message: null, content: null })
    .where('client_id', '=', clientId)
    .execute()
}

/** Lets housekeeping delete the files of a vendor's imports that do not run: they may name someone who is erased. */
export async function expireImportFiles(tx: Tx, scope: OwnerScope): Promise<void> {
  await tx
    .updateTable('data_imports')
    .set({ files_until: 0 })
    .where(inScope(scope))
    .where('files_until', 'is not', null)
    .where('claimed_until', 'is', null)
    .execute()
}

const sha1Of = (address: string): string =>
  createHash('sha1').update(address.trim().toLowerCase()).digest('hex')

/**
 * The name of the end user of an app with an address, the oldest of several; the address of an imported one may be known
 * by its hash alone.
 */
export async function findNameByEmail(
  db: Db,
  app: { id: string; ownerId: string },
  address: string,
): Promise<string | undefined> {
  const forms = formsOfEmail(normalizeEmail(address))
  const own = await db
    .selectFrom('clients')
    .select('username')
    .where('owner_id', '=', app.ownerId)
    .where(sql<string>`lower(email)`, 'in', forms)
    .where('email', 'is not', null)
    .where('app_id', '=', app.id)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  if (own) return own.username
  const imported = await db
    .selectFrom('imported_users as i')
    .innerJoin('clients as c', 'c.id', 'i.client_id')
    .select('c.username')
    .where('i.email_sha1', 'in', forms.map(sha1Of))
    .where('c.app_id', '=', app.id)
    .orderBy('c.created_at')
    .limit(1)
    .executeTakeFirst()
  return imported?.username
}

/**
 * Stores the address of an imported end user of whom only its hash was known, once a program sends it. Returns the
 * address; null if it is another one, undefined if nothing is known of it.
 */
export async function confirmImportedEmail(
  ctx: Ctx,
  actor: ProgramActor,
  id: string,
  sent: string,
): Promise<string | null | undefined> {
  const known = await ctx.db
    .selectFrom('imported_users')
    .select('email_sha1')
    .where('client_id', '=', id)
    .executeTakeFirst()
  if (!known) return undefined
  const { data: address } = emailSchema.safeParse(sent)
  if (address === undefined || sha1Of(address) !== known.email_sha1) return null
  return ctx.tx(actor, async (write) => {
    const client = await lockEndUser(write.tx, actor, id)
    if (!client) return undefined
    await write.tx.deleteFrom('imported_users').where('client_id', '=', id).execute()
    if (client.email !== null) return client.email
    await updateEndUser(write.tx, actor, id, { email: address })
    write.record('end_user.updated', id, { fields: ['email'] }, client.app_id)
    return address
  })
}

/** Deletes the hash of an address, normalized, from the end users of a vendor who is asked to erase it. */
export async function forgetImportedEmail(tx: Tx, scope: OwnerScope, email: string): Promise<void> {
  const users = tx.selectFrom('clients').select('id').where(inScope(scope))
  await tx
    .deleteFrom('imported_users')
    .where('email_sha1', 'in', formsOfEmail(email).map(sha1Of))
    .where('client_id', 'in', users)
    .execute()
}

import { type CustomerKind, limits } from '@keyward/contract'
import type { CustomerActor } from '../../core/actor.ts'
import { hour } from '../../core/clock.ts'
import type { Seal } from '../../core/crypto.ts'
import { sha256 } from '../../core/crypto.ts'
import { newId, newToken } from '../../core/ids.ts'
import { type Db, prepared, type Tx, type WriteTransaction } from '../../db/index.ts'
import type { LostKey, LostKeyReport } from '../description.ts'

// Tokens and sessions identify their subject themselves, so these functions take no scope.

/** What a session or a link opens. */
export interface Subject {
  kind: CustomerKind
  /** The id of a license, of an end user, or of a customer. */
  id: string
}

/** What a session depends on besides its subject: a password, or an address. It ends when that changes. */
export const proofOf = (
  { digest }: Pick<Seal, 'digest'>,
  { kind, id }: Subject,
  secret: string | null | undefined,
): string => (kind === 'license' ? '' : digest(`customer session\n${kind}\n${id}\n${secret ?? ''}`))

/** Sessions, and links that still work, of one license, end user or customer. */
const openMost = 20

/** Opens a session and returns its token and its end; ends the oldest ones beyond `openMost`. */
export async function openSession(
  { tx, now }: WriteTransaction,
  { actor, proof }: { actor: CustomerActor; proof: string },
): Promise<{ token: string; expiresAt: number }> {
  const token = newToken('kwc')
  const expiresAt = now + limits.customerSessionHours * hour
  await tx
    .insertInto('customer_sessions')
    .values({
      ...{ id: actor.sessionId, owner_id: actor.ownerId, app_id: actor.appId, token_hash: sha256(token) },
      ...{ kind: actor.subject.kind, subject_id: actor.subject.id, proof, by_mail: actor.byMail ? 1 : 0 },
      ...{ created_at: now, expires_at: expiresAt },
    })
    .execute()
  await deleteOldest(tx, 'customer_sessions', actor.subject.id)
  return { token, expiresAt }
}

async function deleteOldest(
  tx: Tx,
  table: 'customer_sessions' | 'customer_links',
  subjectId: string,
): Promise<void> {
  const oldest = tx
    .selectFrom(table)
    .select('id')
    .where('subject_id', '=', subjectId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1000)
    .offset(openMost)
  if (table === 'customer_links') await tx.deleteFrom('customer_links').where('id', 'in', oldest).execute()
  else await tx.deleteFrom('customer_sessions').where('id', 'in', oldest).execute()
}

const byToken = prepared((db, values: { tokenHash: string }) =>
  db
    .selectFrom('customer_sessions as s')
    .innerJoin('apps as a', 'a.id', 's.app_id')
    .leftJoin('licenses as l', 'l.id', 's.subject_id')
    .leftJoin('clients as u', 'u.id', 'l.client_id')
    .leftJoin('clients as c', 'c.id', 's.subject_id')
    .leftJoin('customers as p', 'p.id', 's.subject_id')
    .select(['s.id', 's.owner_id', 's.app_id', 's.kind', 's.subject_id', 's.proof', 's.by_mail'])
    .select(['s.expires_at', 'a.customer_page', 'a.test_licenses', 'p.email_normalized'])
    .select(['l.id as license_id', 'l.banned as license_banned', 'l.test as license_test'])
    .select('u.banned as user_banned')
    .select(['c.id as client_id', 'c.banned as client_banned', 'c.password_hash'])
    .where('s.token_hash', '=', values.tokenHash),
)

/** What a session is known by while it is open. */
export interface OpenSession {
  id: string
  ownerId: string
  appId: string
  subject: Subject
  byMail: boolean
  expiresAt: number
}

/** Resolves a token; undefined without an open session, and where what it opens is deleted, banned or changed. */
export async function findSession(
  { db, seal, now }: { db: Db; seal: Pick<Seal, 'digest'>; now: number },
  token: string,
): Promise<OpenSession | undefined> {
  const row = await byToken.first(db, { tokenHash: sha256(token) })
  if (!row || row.expires_at <= now || row.customer_page === 0) return undefined
  const subject = { kind: row.kind, id: row.subject_id }
  const isStoppedTest = row.test_licenses === 0 && row.license_test === 1
  const isOpen = {
    license: () =>
      row.license_id !== null && row.license_banned === 0 && row.user_banned !== 1 && !isStoppedTest,
    end_user: () => row.client_banned === 0 && row.proof === proofOf(seal, subject, row.password_hash),
    customer: () =>
      row.email_normalized !== null && row.proof === proofOf(seal, subject, row.email_normalized),
  }
  if (!isOpen[row.kind]()) return undefined
  return {
    ...{ id: row.id, ownerId: row.owner_id, appId: row.app_id, subject },
    ...{ byMail: row.by_mail === 1, expiresAt: row.expires_at },
  }
}

export async function endSession(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('customer_sessions').where('id', '=', id).execute()
}

/** Keeps the session in which a password was changed; it now depends on the new one, as after a sign-in with it. */
export async function keepSession(tx: Tx, id: string, proof: string): Promise<void> {
  await tx.updateTable('customer_sessions').set({ proof, by_mail: 0 }).where('id', '=', id).execute()
}

/** Adds a link and returns its token. */
export async function insertLink(
  { tx, now }: WriteTransaction,
  link: { ownerId: string; appId: string; subject: Subject; proof: string; expiresAt: number },
): Promise<string> {
  const token = newToken('kwl')
  await tx
    .insertInto('customer_links')
    .values({
      ...{ id: newId('lnk'), owner_id: link.ownerId, app_id: link.appId, token_hash: sha256(token) },
      ...{ kind: link.subject.kind, subject_id: link.subject.id, proof: link.proof },
      ...{ created_at: now, expires_at: link.expiresAt },
    })
    .execute()
  await deleteOldest(tx, 'customer_links', link.subject.id)
  return token
}

/** Finds the link of a token in its app, as long as it works. */
export async function findLink(
  { db, seal, now }: { db: Db; seal: Pick<Seal, 'digest'>; now: number },
  appId: string,
  token: string,
): Promise<{ id: string; subject: Subject; proof: string } | undefined> {
  const row = await db
    .selectFrom('customer_links as k')
    .leftJoin('clients as c', 'c.id', 'k.subject_id')
    .leftJoin('customers as p', 'p.id', 'k.subject_id')
    .select([
      'k.id',
      'k.kind',
      'k.subject_id',
      'k.proof',
      'c.banned',
      'c.password_hash',
      'p.email_normalized',
    ])
    .where('k.token_hash', '=', sha256(token))
    .where('k.app_id', '=', appId)
    .where('k.expires_at', '>', now)
    .executeTakeFirst()
  if (!row) return undefined
  const subject = { kind: row.kind, id: row.subject_id }
  const secret = row.kind === 'customer' ? row.email_normalized : row.password_hash
  if (secret === null || row.banned === 1 || row.proof !== proofOf(seal, subject, secret)) return undefined
  return { id: row.id, subject, proof: row.proof }
}

/** Spends a link; false if another call was first. */
export async function takeLink(tx: Tx, id: string, now: number): Promise<boolean> {
  const taken = await tx
    .deleteFrom('customer_links')
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .returning('id')
    .executeTakeFirst()
  return taken !== undefined
}

/** Ends all sessions of customers: their tokens hold what a lost secret key sealed. */
export async function loseKey({ tx }: LostKey): Promise<Pick<LostKeyReport, 'customerSessions'>> {
  await tx.deleteFrom('customer_links').execute()
  const ended = await tx.deleteFrom('customer_sessions').returning('id').execute()
  return { customerSessions: ended.length }
}

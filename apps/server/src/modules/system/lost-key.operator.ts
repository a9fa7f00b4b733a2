// ADR 97: what a lost secret key sealed is replaced or deleted. Everything else stays.
import { limits } from '@keyward/contract'
import { type Clock, day } from '../../core/clock.ts'
import { type Seal, sha256 } from '../../core/crypto.ts'
import { newAppSecret } from '../../core/ids.ts'
import { newSigningKey } from '../../core/signing.ts'
import { type Db, type Tx, transactAsOperator } from '../../db/index.ts'
import { endReplacement, refuseUnlessLost, takeNewKey } from '../../db/key-rotation/lost-key.ts'
import type { OpenDatabase } from '../../db/open.ts'
import type { KeySettings } from '../../db/secret-key.ts'
import { secretContext, signingContext } from '../apps/apps.service.ts'
import {
  keyContext,
  newSecret,
  secretContext as programContext,
  toHex,
} from '../compatibility/compatibility.rules.ts'
import { shopSecretContext } from '../shops/shops.secrets.ts'
import { urlContext, secretContext as webhookSecretContext } from '../webhooks/webhooks.service.ts'
import { newWebhookSecret } from '../webhooks/webhooks.signature.ts'

const appsAtOnce = 200
/** What is sent while the vendor has not typed the real one: nobody knows it. */
const placeholder = (seal: Seal) => newSecret() + seal.fingerprint

/** What was replaced, and what was lost. */
export interface LostKeyReport {
  /** Their programs have to be shipped again, with the new secret and public key. */
  apps: { id: string; appId: string; name: string; vendor: string }[]
  /** Apps whose programs of another system need the new secret and public key. */
  otherPrograms: string[]
  /** Apps without their variables now. */
  appVariables: string[]
  endUserVariables: number
  /** Addresses of people, and ids of resellers, without an authenticator app and recovery codes now. */
  factors: string[]
  /** Paused; their address has no path any more. */
  webhooks: { id: string; origin: string; vendor: string }[]
  /** Paused until somebody types their secrets again. */
  shops: { id: string; name: string; vendor: string }[]
  mails: number
  resetRequests: number
  imports: string[]
  lazyMoves: string[]
  /** Erasures of customers that had not ended: somebody has to erase what is left. */
  erasures: { customer: string; vendor: string }[]
  /** Erased persons that a late event of a shop may bring back. */
  erasedUnknown: number
  customerSessions: number
  storedAnswers: number
}

export interface LostKeyOptions {
  clock: Clock
  /** Asks the operator once nothing can refuse any more. */
  confirm: () => Promise<void>
}

export async function replaceLostKey(
  database: OpenDatabase,
  settings: KeySettings,
  { clock, confirm }: LostKeyOptions,
): Promise<LostKeyReport> {
  const release = await refuseUnlessLost(database, settings)
  try {
    await confirm()
    const seal = await takeNewKey(database, settings)
    const apps = await replaceApps(database, seal, clock)
    const rest = await transactAsOperator(
      database.db,
      { ownerId: null, now: clock.now() },
      ({ tx, now }) => replaceRest(tx, seal, now),
      { rows: apps.length + 1000, isPatient: true },
    )
    await endReplacement(database)
    return { apps, ...rest }
  } finally {
    release()
  }
}

/** Each app in a transaction with its records, so that a repeat after a kill goes on. */
async function replaceApps({ db }: OpenDatabase, seal: Seal, clock: Clock): Promise<LostKeyReport['apps']> {
  const done: LostKeyReport['apps'] = []
  for (let after = ''; ; ) {
    const apps = await listApps(db, after)
    for (const { id, owner_id, secret_sealed, ...app } of apps) {
      done.push({ id, appId: app.app_id, name: app.name, vendor: app.email })
      if (opens(seal, secret_sealed, secretContext(id))) continue
      const [secret, key] = [newAppSecret(), newSigningKey()]
      await transactAsOperator(db, { ownerId: owner_id, now: clock.now() }, async (write) => {
        const { tx } = write
        await tx.deleteFrom('signing_keys').where('app_id', '=', id).execute()
        await tx
          .updateTable('apps')
          .set((eb) => ({
            secret_sealed: seal.seal(secret, secretContext(id)),
            secret_hash: sha256(secret),
            secret_version: eb('secret_version', '+', 1),
            signing_kid: key.kid,
            signing_public: key.x,
            signing_sealed: seal.seal(key.privateKey, signingContext(id)),
            signing_version: 0,
          }))
          .where('id', '=', id)
          .execute()
        write.record('app.secret_rotated', id, {}, id)
        write.record('app.signing_key_created', id, { kid: key.kid }, id)
      })
    }
    const last = apps.at(-1)
    if (last === undefined) return done
    after = last.id
  }
}

/** Apps of all vendors: the secret key is the installation's. */
const listApps = (db: Db, after: string) =>
  db
    .selectFrom('apps as a')
    .innerJoin('owners as o', 'o.id', 'a.owner_id')
    .innerJoin('accounts as p', 'p.id', 'o.account_id')
    .select(['a.id', 'a.owner_id', 'a.app_id', 'a.name', 'a.secret_sealed', 'p.email'])
    .where('a.id', '>', after)
    .orderBy('a.id')
    .limit(appsAtOnce)
    .execute()

function opens(seal: Seal, sealed: string, context: string): boolean {
  try {
    seal.open(sealed, context)
    return true
  } catch {
    return false
  }
}

async function replaceRest(tx: Tx, seal: Seal, now: number): Promise<Omit<LostKeyReport, 'apps'>> {
  const appVariables = await tx.deleteFrom('app_variables').returning('app_id').execute()
  const ofEndUsers = await tx.deleteFrom('client_variables').returning('client_id').execute()
  return {
    otherPrograms: await replaceCompatibility(tx, seal),
    appVariables: appVariables.map(({ app_id }) => app_id),
    endUserVariables: ofEndUsers.length,
    factors: await removeTotp(tx),
    webhooks: await pauseWebhooks(tx, seal),
    shops: await pauseShops(tx, seal),
    mails: await failMails(tx, now),
    resetRequests: (await tx.deleteFrom('reset_requests').returning('id').execute()).length,
    imports: await failImports(tx, now),
    lazyMoves: await endLazyMoves(tx, now),
    ...(await forgetErasures(tx)),
    customerSessions: await endCustomerSessions(tx),
    storedAnswers: (await tx.deleteFrom('idempotency_keys').returning('id').execute()).length,
  }
}

async function replaceCompatibility(tx: Tx, seal: Seal): Promise<string[]> {
  const rows = await tx.selectFrom('compatibility').select('app_id').execute()
  for (const { app_id } of rows) {
    const key = newSigningKey()
    await tx
      .updateTable('compatibility')
      .set({
        secret_sealed: seal.seal(newSecret(), programContext(app_id)),
        public_key: toHex(key.x),
        key_sealed: seal.seal(key.privateKey, keyContext(app_id)),
      })
      .where('app_id', '=', app_id)
      .execute()
  }
  // Its hashes have a key that is lost; it fills again.
  await tx.deleteFrom('compatibility_programs').execute()
  return rows.map(({ app_id }) => app_id)
}

/** Passkeys stay: they are public keys. */
async function removeTotp(tx: Tx): Promise<string[]> {
  const rows = await tx
    .selectFrom('second_factors as f')
    .leftJoin('accounts as a', 'a.id', 'f.account_id')
    .select(['a.email', 'f.reseller_id'])
    .where('f.totp_sealed', 'is not', null)
    .execute()
  await tx.deleteFrom('recovery_codes').execute()
  await tx.updateTable('second_factors').set({ totp_sealed: null, pending_sealed: null }).execute()
  await tx
    .deleteFrom('second_factors')
    .where('id', 'not in', (eb) => eb.selectFrom('passkeys').select('factor_id'))
    .execute()
  return rows.map(({ email, reseller_id }) => email ?? reseller_id ?? '')
}

async function pauseWebhooks(tx: Tx, seal: Seal): Promise<LostKeyReport['webhooks']> {
  const rows = await tx
    .selectFrom('webhooks')
    .select(['id', 'origin', 'owner_id', 'secret_sealed', 'deleted_at'])
    .execute()
  for (const { id, origin, secret_sealed } of rows) {
    const secret = secret_sealed && seal.seal(newWebhookSecret(), webhookSecretContext(id))
    await tx
      .updateTable('webhooks')
      .set({ url_sealed: seal.seal(`${origin}/`, urlContext(id)), secret_sealed: secret, active: 0 })
      .set({ previous_sealed: null, previous_until: 0, off_with_vendor: 0, pause_reason: null })
      .where('id', '=', id)
      .execute()
  }
  return rows.flatMap(({ id, origin, owner_id, deleted_at }) =>
    deleted_at === null ? [{ id, origin, vendor: owner_id }] : [],
  )
}

async function pauseShops(tx: Tx, seal: Seal): Promise<LostKeyReport['shops']> {
  const rows = await tx
    .selectFrom('shops')
    .select(['id', 'name', 'owner_id'])
    .where('secret_sealed', 'is not', null)
    .execute()
  for (const { id } of rows) {
    await tx
      .updateTable('shops')
      .set({
        secret_sealed: seal.seal(placeholder(seal), shopSecretContext(id)),
        active: 0,
      })
      .where('id', '=', id)
      .execute()
  }
  await tx.updateTable('shops').set({ api_key_sealed: null }).execute()
  // What arrived waits until the shop goes on.
  await tx.updateTable('shop_events').set({ due_at: null }).where('state', '=', 'waiting').execute()
  return rows.map(({ owner_id, ...shop }) => ({ ...shop, vendor: owner_id }))
}

async function failMails(tx: Tx, now: number): Promise<number> {
  const failed = await tx
    .updateTable('mails')
    .set({ state: 'failed', sealed: null, due_at: null, last_error: 'secret key lost' })
    .set({ kept_until: now + limits.mailDays * day })
    .where('sealed', 'is not', null)
    .returning('id')
    .execute()
  await tx.updateTable('shop_orders').set({ mail: 'failed' }).where('mail', '=', 'queued').execute()
  return failed.length
}

async function failImports(tx: Tx, now: number): Promise<string[]> {
  await tx.deleteFrom('data_import_parts').execute()
  await tx.deleteFrom('data_import_files').execute()
  const failed = await tx
    .updateTable('data_imports')
    .set({ state: 'failed', claim: null, claimed_until: null, files_until: null, finished_at: now })
    .set({ problem: 'The secret key of the server was lost, and the files with it: begin again.' })
    .where((eb) =>
      eb.or([
        eb('state', 'in', ['waiting', 'checking', 'checked']),
        eb.and([eb('state', '=', 'running'), eb('is_read', '=', 0)]),
      ]),
    )
    .returning('id')
    .execute()
  return failed.map(({ id }) => id)
}

async function endLazyMoves(tx: Tx, now: number): Promise<string[]> {
  const ended = await tx
    .updateTable('lazy_moves')
    .set({ secret_sealed: null, until: now })
    .where('secret_sealed', 'is not', null)
    .returning('app_id')
    .execute()
  return ended.map(({ app_id }) => app_id)
}

async function forgetErasures(tx: Tx): Promise<Pick<LostKeyReport, 'erasures' | 'erasedUnknown'>> {
  const rows = await tx.selectFrom('erasures').select(['customer_id', 'owner_id', 'sealed']).execute()
  await tx.updateTable('erasures').set({ sealed: null, due_at: null }).execute()
  const open = rows.filter(({ sealed }) => sealed !== null)
  return {
    erasures: open.map(({ customer_id, owner_id }) => ({ customer: customer_id, vendor: owner_id })),
    erasedUnknown: rows.length,
  }
}

async function endCustomerSessions(tx: Tx): Promise<number> {
  await tx.deleteFrom('customer_links').execute()
  return (await tx.deleteFrom('customer_sessions').returning('id').execute()).length
}

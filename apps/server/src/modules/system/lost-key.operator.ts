// ADR 97: what a lost secret key sealed is replaced or deleted. Everything else stays.
import type { Clock } from '../../core/clock.ts'
import { type Seal, sha256 } from '../../core/crypto.ts'
import { newAppSecret } from '../../core/ids.ts'
import { newSigningKey } from '../../core/signing/signing.ts'
import { type Db, transactAsOperator } from '../../db/index.ts'
import { endReplacement, refuseUnlessLost, takeNewKey } from '../../db/key-rotation/lost-key.ts'
import type { OpenDatabase } from '../../db/open.ts'
import type { KeySettings } from '../../db/secret-key.ts'
import { secretContext, signingContext } from '../apps/apps.service.ts'
import type { Description, LostKey, LostKeyReport } from '../description.ts'

const appsAtOnce = 200

export interface LostKeyOptions {
  modules: readonly Description[]
  clock: Clock
  /** Asks the operator once nothing can refuse any more. */
  confirm: () => Promise<void>
}

export async function replaceLostKey(
  database: OpenDatabase,
  settings: KeySettings,
  { modules, clock, confirm }: LostKeyOptions,
): Promise<LostKeyReport> {
  const release = await refuseUnlessLost(database, settings)
  try {
    await confirm()
    const seal = await takeNewKey(database, settings)
    const apps = await replaceApps(database, seal, clock)
    const rest = await transactAsOperator(
      database.db,
      { ownerId: null, now: clock.now() },
      ({ tx, now }) => replaceRest(modules, { tx, seal, now }),
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

async function replaceRest(
  modules: readonly Description[],
  lost: LostKey,
): Promise<Omit<LostKeyReport, 'apps'>> {
  const report: Omit<LostKeyReport, 'apps'> = {
    ...{ otherPrograms: [], appVariables: [], endUserVariables: 0, factors: [], webhooks: [], shops: [] },
    ...{ mails: 0, resetRequests: 0, imports: [], lazyMoves: [], erasures: [], erasedUnknown: 0 },
    ...{ customerSessions: 0, storedAnswers: 0 },
  }
  for (const module of modules) Object.assign(report, await module.loseKey?.(lost))
  return report
}

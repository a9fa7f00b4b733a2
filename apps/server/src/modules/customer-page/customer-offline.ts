import type { CustomerActor } from '../../core/actor.ts'
import { minute } from '../../core/clock.ts'
import { toTypedKey } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { type Allowance, keyFailures } from '../../service/attempts.ts'
import { lockEndUser } from '../end-users/end-users.access.ts'
import { findLicenseByKey, findPastedLicense } from '../licenses/licenses.access.ts'
import { licenseSource } from '../licenses/licenses.service.ts'
import { toRequest } from '../offline-activations/offline-activations.rules.ts'
import { activate } from '../offline-activations/offline-activations.service.ts'
import { type CustomerPageDeps, getPage } from './customer-page.service.ts'
import { partsOf } from './customer-self.ts'

const files: Allowance = { name: 'customer file', max: 20, windowMs: 60 * minute }

/** Makes the file for a machine without a connection, by the rules of the vendor's own call, for a license of the session. */
export async function activateOffline(
  deps: CustomerPageDeps,
  actor: CustomerActor,
  text: string,
): Promise<{ file: string; until: string | null }> {
  const { ctx, attempts } = deps
  const page = await getPage(ctx.db, actor.appId)
  const { licenseKey } = toRequest(page.app_id, text)
  await attempts.check(keyFailures, page.id, actor.address)
  const license =
    (await findLicenseByKey(ctx.db, page.id, toTypedKey(licenseKey))) ??
    (await findPastedLicense(ctx.db, page.id, licenseKey))
  const { licenses } = await partsOf(deps, actor)
  const own = await licenseSource.read(ctx, actor, licenses, ctx.clock.now())
  if (!license || !own.some(({ _id }) => _id === license.id)) {
    await attempts.count(keyFailures, page.id, actor.address)
    throw foreignKey()
  }
  await attempts.count(files, actor.subject.id)
  // A key alone does not let in an end user with a password.
  const refuse = async ({ tx }: WriteTransaction, endUserId: string) => {
    if (actor.subject.kind !== 'license') return
    const client = await lockEndUser(tx, actor, endUserId)
    if (client?.password_hash !== null) throw problem('keyUsed')
  }
  const { file, activation } = await activate(deps, actor, page.id, { request: text, refuse })
  return { file, until: activation.until }
}

/** The same for keys of others and keys that do not exist. */
function foreignKey() {
  const message = 'This request is for another license'
  return problem('offline_refused', {
    message,
    issues: [{ path: 'request', message }],
    details: { reason: 'keyNotFound', reference: null },
  })
}

import { Problem, problem } from '../../../core/problem.ts'
import type { WriteTransaction } from '../../../db/index.ts'
import type { LicenseRow } from '../../../db/tables.ts'
import { lockEndUser } from '../../end-users/end-users.access.ts'
import { findLicenseById, lockLicenseById, lockSeatsOf } from '../../licenses/licenses.access.ts'
import type { SignedInUser } from '../checks/session.ts'
import type { SessionFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import type { Pause } from '../sessions/write-turns.ts'
import { enter, type SignInCall, type SignInDevice, sessionSignIn, toDevice } from './admit.ts'
import { findKey, keyUsed, type SentKey } from './key.ts'
import { moveKeyIn } from './move-in.ts'
import { redeemForFormerUser, redeemForNewUser, refuseFirstUse } from './new-user.ts'

/** Signs in by key alone; the first use creates the end user. */
export async function signInByKey(
  deps: ProgramDeps,
  session: SessionFacts,
  sent: SentKey,
  pause: Pause,
): Promise<SignedInUser> {
  const license = await findKey(deps, session, sent, () => pause(() => moveKeyIn(deps, session, sent)))
  const device = await toDevice(deps, session.app, sent)
  return enterByKey(deps, sessionSignIn('license', session, sent.address), license, device)
}

/** Enters by a key of the app. */
export async function enterByKey<T>(
  deps: Pick<ProgramDeps, 'ctx'>,
  signIn: SignInCall<T>,
  license: LicenseRow,
  device: SignInDevice,
): Promise<T> {
  const { ctx } = deps
  if (license.used === 1) return enterByUsedKey(deps, signIn, license.id, device)
  refuseFirstUse(signIn, license, { device, now: ctx.clock.now() })
  try {
    return await redeemByKey(deps, signIn, license, device)
  } catch (error) {
    // A concurrent call with the same key was first and created the end user.
    const isLost = hasCode(error, 'keyUsed') || hasCode(error, 'usernameTaken')
    const current = await findLicenseById(ctx.db, signIn.app.id, license.id)
    if (!isLost || current?.used !== 1) throw error
    return enterByUsedKey(deps, signIn, license.id, device)
  }
}

/** Enters by an already used key; rejects keys of end users with a password. */
const enterByUsedKey = <T>(
  { ctx }: Pick<ProgramDeps, 'ctx'>,
  signIn: SignInCall<T>,
  licenseId: string,
  device: SignInDevice,
): Promise<T> =>
  ctx.tx(signIn.actor, async (write) => {
    const { tx } = write
    const { app, isOwner } = signIn
    const license = await findLicenseById(tx, app.id, licenseId)
    if (!license) throw problem('keyNotFound')
    if (license.client_id === null) throw problem('keyUsed')
    // An activation names the license, which locks it.
    if (isOwner) await lockLicenseById(tx, app.id, license.id)
    else await lockSeatsOf(tx, app.id, license.client_id)
    const client = await lockEndUser(tx, app, license.client_id)
    if (!client || client.license_id !== license.id) throw keyUsed(license)
    if (client.password_hash !== null && !isOwner) throw keyUsed(license)
    return enter(write, signIn, client.id, device)
  })

const namesMax = 9

/**
 * Redeems a key for a new end user named after it, or for the end user that the same key created earlier. If others
 * have that name, as anyone can register one that equals a key, the next free name with a number is taken.
 */
async function redeemByKey<T>(
  { ctx }: Pick<ProgramDeps, 'ctx'>,
  signIn: SignInCall<T>,
  license: LicenseRow,
  device: SignInDevice,
): Promise<T> {
  for (let number = 1; ; number += 1) {
    const username = number === 1 ? license.key : `${license.key} (${number})`
    const user = { username, passwordHash: null, email: null, device }
    try {
      const redeem = async (write: WriteTransaction) => {
        const admitted = await redeemForNewUser(write, signIn, license.id, user)
        return signIn.finish(write, admitted, true)
      }
      return await ctx.tx(signIn.actor, redeem, { onTaken: nameTaken })
    } catch (error) {
      if (!hasCode(error, 'usernameTaken')) throw error
    }
    try {
      return await ctx.tx(signIn.actor, (write) =>
        redeemForFormerUser(write, signIn, { licenseId: license.id, username }, device),
      )
    } catch (error) {
      if (!hasCode(error, 'usernameTaken') || number === namesMax) throw error
    }
  }
}

const nameTaken = () => problem('usernameTaken')

const hasCode = (error: unknown, code: Problem['code']): boolean =>
  error instanceof Problem && error.code === code

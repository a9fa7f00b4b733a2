import { newId, normalizeName } from '../../../core/ids.ts'
import { problem } from '../../../core/problem.ts'
import type { WriteTransaction } from '../../../db/index.ts'
import { never } from '../../../db/stored-end.ts'
import type { ClientRow, LicenseRow } from '../../../db/tables.ts'
import { countToday } from '../../daily-counts/daily-counts.service.ts'
import { addFirstDevice } from '../../devices/devices.service.ts'
import { findByUsername, lockEndUser } from '../../end-users/end-users.access.ts'
import { insertEndUser, type NewEndUser } from '../../entitlements/end-user-rows.ts'
import { redeem, setEndUserOfLicense, setFirstLicense } from '../../entitlements/entitlements.service.ts'
import { lockLicensesOf } from '../../entitlements/license-rows.ts'
import { findLicenseById, lockLicenseById } from '../../licenses/licenses.access.ts'
import { toDeviceFacts, toNewDevice } from '../facts/caller.ts'
import { factsOfRows, toEndUserFacts } from '../facts/rows.ts'
import { refuseBy } from '../verdict/refusal.ts'
import type { VerdictFacts } from '../verdict/verdict.ts'
import { type Admitted, enter, type SignInCall, type SignInDevice } from './admit.ts'
import { keyUsed } from './key.ts'

interface NewUser {
  id?: string
  username: string
  passwordHash: string | null
  email: string | null
  device: SignInDevice
}

/** Creates the end user, redeems the key and binds the machine. Exactly one concurrent caller succeeds. */
export async function redeemForNewUser(
  write: WriteTransaction,
  signIn: Pick<SignInCall<unknown>, 'call' | 'app' | 'version'>,
  licenseId: string,
  user: NewUser,
): Promise<Admitted> {
  const { tx, now } = write
  const { app } = signIn
  const { machine, address, isSignIn } = toNewDevice(user.device)
  // Lock first, so that the end user gets the license's latest expiry.
  const license = await lockLicenseById(tx, app.id, licenseId)
  if (!license) throw problem('keyNotFound')
  const facts = refuseFirstUse(signIn, license, { device: user.device, now })
  const redeemed = await redeem(tx, app, license, null, now)
  if (!redeemed) throw problem('keyUsed')
  const client: NewEndUser & Pick<ClientRow, 'grace_days'> = {
    id: user.id ?? newId('usr'),
    owner_id: app.ownerId,
    app_id: app.id,
    license_id: license.id,
    username: user.username,
    username_normalized: normalizeName(user.username),
    email: user.email,
    password_hash: user.passwordHash,
    hwid: machine?.hwid ?? null,
    hwid_hash: machine?.hash ?? null,
    device_count: machine ? 1 : 0,
    last_address: address,
    expires_at: redeemed.expires_at,
    grace_days: redeemed.grace_days,
    last_login_at: isSignIn ? now : null,
    created_at: now,
  }
  await insertEndUser(tx, client)
  await setEndUserOfLicense(tx, app, license.id, client.id)
  if (machine) await addFirstDevice(write, app, client, machine, signIn.version)
  write.record('end_user.registered', client.id, { licenseId: license.id }, app.id)
  countToday(write, app, 'activations')
  const stored = { ...client, banned: 0, ban_reason: null, paused_at: null } as const
  return { endUser: toEndUserFacts(stored, redeemed, now), hwidHash: client.hwid_hash, facts }
}

/** A key that was deleted and issued again returns to the end user it created, whose ban and hardware lock remain. */
export async function redeemForFormerUser<T>(
  write: WriteTransaction,
  signIn: SignInCall<T>,
  { licenseId, username }: { licenseId: string; username: string },
  device: SignInDevice,
): Promise<T> {
  const { tx, now } = write
  const { app } = signIn
  const found = await findByUsername(tx, app.id, normalizeName(username))
  await lockLicensesOf(tx, app, { clients: found ? [found.id] : [], licenses: [licenseId] })
  const license = await findLicenseById(tx, app.id, licenseId)
  if (!license) throw problem('keyNotFound')
  refuseFirstUse(signIn, license, { device, now })
  const client = found && (await lockEndUser(tx, app, found.id))
  if (!client || client.password_hash !== null || client.license_id !== null) throw problem('usernameTaken')
  const redeemed = await redeem(tx, app, license, client.id, now)
  if (!redeemed) throw problem('keyUsed')
  const leftMs = client.expires_at === never ? never : Math.max(0, client.expires_at - now)
  const expiresAt = await setFirstLicense(write, app, redeemed, { id: client.id, leftMs })
  countToday(write, app, 'activations')
  write.record('license.redeemed', license.id, { endUserId: client.id, expiresAt }, app.id)
  return enter(write, signIn, client.id, device)
}

/** Refuses a key that is used, or that could not be used here and now; otherwise returns what decided. */
export function refuseFirstUse(
  { call, app, version }: Pick<SignInCall<unknown>, 'call' | 'app' | 'version'>,
  license: LicenseRow,
  { device: sent, now }: { device: SignInDevice; now: number },
): VerdictFacts {
  const { machine, caller } = toNewDevice(sent)
  if (license.used === 1) throw keyUsed(license)
  const device = toDeviceFacts(machine)
  const { facts } = factsOfRows(call, { app, key: license, caller, version, device, now })
  refuseBy(facts)
  return facts
}

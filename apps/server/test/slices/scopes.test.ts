// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import type { License } from '@keyward/contract'
import { expect, test } from 'vitest'
import { allApps, type OwnerScope } from '../../src/core/actor.ts'
import { day } from '../../src/core/clock.ts'
import type { Tx } from '../../src/db/index.ts'
import type { LicenseRow } from '../../src/db/tables.ts'
import { transact } from '../../src/db/transact.ts'
import { freeAllDevices } from '../../src/modules/devices/devices.access.ts'
import {
  freeAfterLease,
  freeEnded,
  freeLeasedSeats,
  leaseDevice,
} from '../../src/modules/devices/leased-places.access.ts'
import { lockEndUser } from '../../src/modules/end-users/end-users.access.ts'
import * as endUsers from '../../src/modules/end-users/end-users.repo.ts'
import {
  takePlace,
  updateBinding,
  updateEndUser,
  updateEndUsers,
} from '../../src/modules/entitlements/end-user-rows.ts'
import * as entitlements from '../../src/modules/entitlements/entitlements.service.ts'
import { returnKeys, withdrawKeys } from '../../src/modules/entitlements/grants.changes.ts'
import { changeAccess } from '../../src/modules/entitlements/grants.ts'
import {
  deleteByIds,
  updateLicenses,
  updateTerms,
  type Which,
} from '../../src/modules/entitlements/license-rows.ts'
import { untilDate } from '../../src/modules/licenses/licenses.rules.ts'
import { hashed, makeLicenses, registerUser } from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = ownerForEach(on)
const app = appForEach(owner)

interface Ids {
  license: string
  unused: string
  user: string
  device: string
  /** An added key, and one that was banned after that. */
  added: string
  taken: string
}

/** Another owner, and a member of this one for another app. */
const foreignScopes = () => [allApps('own_another'), { ownerId: owner.id, apps: new Set(['app_another']) }]

const ends = 32_000_000_000_000
const atNow = (tx: Tx) => ({ tx, now: on.clock.now() })
const endIn = (tx: Tx, foreign: OwnerScope, which: Which) =>
  changeAccess(atNow(tx), foreign, which, () => ({
    added: [{ kind: 'end', until: ends, source_kind: 'person', source_id: null }],
  }))

test.each<[string, (tx: Tx, ids: Ids, foreign: OwnerScope) => Promise<unknown>]>([
  [
    'redeem',
    (tx, { unused, user }, foreign) =>
      entitlements.redeem(tx, foreign, { id: unused, ...untilDate(ends) }, user, 1),
  ],
  [
    'setFirstLicense',
    (tx, { unused, user }, foreign) =>
      entitlements.setFirstLicense(atNow(tx), foreign, { id: unused, ...untilDate(ends) } as LicenseRow, {
        id: user,
        leftMs: day,
      }),
  ],
  ['changeAccess of licenses', (tx, { license }, foreign) => endIn(tx, foreign, { licenses: [license] })],
  ['changeAccess of end users', (tx, { user }, foreign) => endIn(tx, foreign, { clients: [user] })],
  ['freeLicensesOf', (tx, { user }, foreign) => entitlements.freeLicensesOf(atNow(tx), foreign, [user])],
  [
    'expireUsersOf',
    (tx, { license, added }, foreign) => entitlements.expireUsersOf(atNow(tx), foreign, [license, added]),
  ],
  [
    'withdrawKeys',
    (tx, { added, user }, foreign) => withdrawKeys(atNow(tx), foreign, [{ id: added, client_id: user }]),
  ],
  [
    'returnKeys',
    (tx, { taken, user }, foreign) => returnKeys(atNow(tx), foreign, [{ id: taken, client_id: user }]),
  ],
  [
    'updateTerms',
    (tx, { license }, foreign) => updateTerms(tx, foreign, [license], { grace_days: 9, devices: 9 }),
  ],
  [
    'lockEndUser',
    async (tx, { user }, foreign) => expect(await lockEndUser(tx, foreign, user)).toBeUndefined(),
  ],
  ['updateEndUser', (tx, { user }, foreign) => updateEndUser(tx, foreign, user, { banned: 1 })],
  [
    'takePlace',
    async (tx, { user }, foreign) =>
      expect(await takePlace(tx, foreign, user, { hwid: 'x' }, { limit: -1, removed: 0 })).toBe(false),
  ],
  ['updateBinding', (tx, { user }, foreign) => updateBinding(tx, foreign, user, { hwid: 'another' })],
  ['freeAllDevices', (tx, { user }, foreign) => freeAllDevices(tx, foreign, [user])],
  [
    'freeAfterLease',
    (tx, { user, device }, foreign) => freeAfterLease(tx, foreign, user, device, on.clock.now()),
  ],
  ['freeEnded', (tx, { user }, foreign) => freeEnded(tx, foreign, user, ends)],
  ['freeLeasedSeats', (tx, { user }, foreign) => freeLeasedSeats(tx, foreign, [user])],
  [
    'leaseDevice',
    async (tx, { device }, foreign) =>
      expect(await leaseDevice(tx, foreign, { id: device, hwidHash: hashed('pc-1') }, ends, ends)).toBe(
        false,
      ),
  ],
  ['updateEndUsers', (tx, { user }, foreign) => updateEndUsers(tx, foreign, [user], { banned: 1 })],
  ['deleteEndUsers', (tx, { user }, foreign) => endUsers.deleteEndUsers(tx, foreign, [user], 0)],
  ['deleteSlice', (tx, _ids, foreign) => endUsers.deleteSlice(tx, foreign, app._id, 100)],
  ['updateLicenses', (tx, { license }, foreign) => updateLicenses(tx, foreign, [license], { banned: 1 })],
  ['deleteByIds', (tx, { license }, foreign) => deleteByIds(tx, foreign, [license])],
])('%s changes no row of another owner or app', async (_name, work) => {
  const { license, program, user } = await registerUser(on, owner, app)
  const [unused, added, taken] = (await makeLicenses(on, owner, app, 3)) as [License, License, License]
  for (const key of [added, taken])
    await program.call('POST', '/upgrade', { username: user.username, licenseKey: key.key })
  await owner.call('PATCH', `/licenses/${taken._id}/toggle-ban`, { is_banned: true })
  await program.call('POST', '/login', { username: 'alice', password: 'swordfish', hwid: 'pc-1' })
  await program.call('POST', '/lease', { hwid: 'pc-1' })
  const device = await prepare(license, user)
  on.clock.advance(day)
  const before = await rows()
  const ids = {
    license: license._id,
    unused: unused._id,
    user: user._id,
    device,
    ...{ added: added._id, taken: taken._id },
  }
  for (const foreign of foreignScopes()) await transact(on.database.db, (tx) => work(tx, ids, foreign))
  expect(before.devices).toHaveLength(2)
  expect(before.licenses).toHaveLength(4)
  expect(before.grants).toHaveLength(3)
  expect(before.endUsers).toHaveLength(1)
  expect(await rows()).toEqual(before)
})

/** Gives the end user a further device that was freed and a leased seat; returns the device that is bound. */
async function prepare(license: { _id: string }, user: { _id: string }): Promise<string> {
  const { db } = on.database
  const bound = await db
    .selectFrom('devices')
    .selectAll()
    .where('client_id', '=', user._id)
    .executeTakeFirst()
  const freed = { ...bound!, id: `${bound!.id}2`, hwid_hash: 'freed', freed_until: 1 }
  await db.insertInto('devices').values(freed).execute()
  const seat = { license_id: license._id, holder: bound!.hwid_hash, until: ends }
  await db.insertInto('leased_seats').values(seat).execute()
  return bound!.id
}

async function rows() {
  const { db } = on.database
  const licenses = await db.selectFrom('licenses').selectAll().where('app_id', '=', app._id).execute()
  const endUsers = await db.selectFrom('clients').selectAll().where('app_id', '=', app._id).execute()
  const devices = await db.selectFrom('devices').selectAll().where('app_id', '=', app._id).execute()
  const ids = licenses.map(({ id }) => id)
  const seats = await db.selectFrom('leased_seats').selectAll().where('license_id', 'in', ids).execute()
  const grants = await db.selectFrom('grants').selectAll().where('app_id', '=', app._id).execute()
  return { licenses, endUsers, devices, seats, grants }
}

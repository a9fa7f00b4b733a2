import { expect, test } from 'vitest'
import { allApps, type OwnerScope } from '../../src/core/actor.ts'
import { day } from '../../src/core/clock.ts'
import type { Tx } from '../../src/db/index.ts'
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
import { storeAddedRights } from '../../src/modules/entitlements/added-rights.ts'
import { giveBack, setAddedTime } from '../../src/modules/entitlements/added-time.ts'
import {
  takePlace,
  updateBinding,
  updateEndUser,
  updateEndUsers,
} from '../../src/modules/entitlements/end-user-rows.ts'
import * as entitlements from '../../src/modules/entitlements/entitlements.service.ts'
import { deleteByIds, setBanned, updateDetails } from '../../src/modules/entitlements/license-rows.ts'
import { setPaused } from '../../src/modules/entitlements/pauses.ts'
import { untilDate } from '../../src/modules/licenses/licenses.rules.ts'
import { hashed, makeLicenses, registerUser, single } from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = ownerForEach(on)
const app = appForEach(owner)

interface Ids {
  license: string
  unused: string
  user: string
  device: string
}

/** Another owner, and a member of this one for another app. */
const foreignScopes = () => [allApps('own_another'), { ownerId: owner.id, apps: new Set(['app_another']) }]

const ends = 32_000_000_000_000

test.each<[string, (tx: Tx, ids: Ids, foreign: OwnerScope) => Promise<unknown>]>([
  [
    'redeem',
    (tx, { unused, user }, foreign) =>
      entitlements.redeem(tx, foreign, { id: unused, ...untilDate(ends) }, user, 1),
  ],
  [
    'setFirstLicense',
    (tx, { unused, user }, foreign) =>
      entitlements.setFirstLicense(tx, foreign, { id: unused, ...untilDate(ends) }, user),
  ],
  ['setEndUserEnd', (tx, { user }, foreign) => entitlements.setEndUserEnd(tx, foreign, user, ends)],
  ['setLicenseEnd', (tx, { license }, foreign) => entitlements.setLicenseEnd(tx, foreign, license, ends)],
  ['extendLicenses', (tx, { license }, foreign) => entitlements.extendLicenses(tx, foreign, [license], 9, 1)],
  ['extendEndUsers', (tx, { user }, foreign) => entitlements.extendEndUsers(tx, foreign, [user], 9, 1)],
  ['freeLicensesOf', (tx, { user }, foreign) => entitlements.freeLicensesOf(tx, foreign, [user], 1)],
  [
    'expireUsersOf',
    (tx, { license, user }, foreign) =>
      entitlements.expireUsersOf(
        tx,
        foreign,
        [
          { id: license, client_id: user, added_ms: null, taken_ms: null },
          { id: 'another', client_id: user, added_ms: day, taken_ms: null },
        ],
        on.clock.now(),
      ),
  ],
  [
    'giveBack',
    (tx, { license, user }, foreign) =>
      giveBack(tx, foreign, [{ id: license, client_id: user, added_ms: day, taken_ms: day }]),
  ],
  [
    'setPaused',
    (tx, { user }, foreign) =>
      setPaused(tx, foreign, { id: user, paused_at: 1, expires_at: ends }, true, on.clock.now()),
  ],
  ['setAddedTime', (tx, { license }, foreign) => setAddedTime(tx, foreign, license, { before: 1, after: 2 })],
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
  ['storeAddedRights', (tx, { user }, foreign) => storeAddedRights(tx, foreign, [user])],
  ['updateEndUsers', (tx, { user }, foreign) => updateEndUsers(tx, foreign, [user], { banned: 1 })],
  ['deleteEndUsers', (tx, { user }, foreign) => endUsers.deleteEndUsers(tx, foreign, [user], 0)],
  ['deleteSlice', (tx, _ids, foreign) => endUsers.deleteSlice(tx, foreign, app._id, 100)],
  ['updateDetails', (tx, { license }, foreign) => updateDetails(tx, foreign, license, { devices: 9 })],
  ['setBanned', (tx, { license }, foreign) => setBanned(tx, foreign, [license], 1)],
  ['deleteByIds', (tx, { license }, foreign) => deleteByIds(tx, foreign, [license])],
])('%s changes no row of another owner or app', async (_name, work) => {
  const { license, program, user } = await registerUser(on, owner, app)
  const unused = single(await makeLicenses(on, owner, app))
  await program.call('POST', '/login', { username: 'alice', password: 'swordfish', hwid: 'pc-1' })
  await program.call('POST', '/lease', { hwid: 'pc-1' })
  const device = await prepare(license, user)
  on.clock.advance(day)
  const before = await rows()
  const ids = { license: license._id, unused: unused._id, user: user._id, device }
  for (const foreign of foreignScopes()) await transact(on.database.db, (tx) => work(tx, ids, foreign))
  expect(before.devices).toHaveLength(2)
  expect(before.licenses).toHaveLength(2)
  expect(before.endUsers).toHaveLength(1)
  expect(await rows()).toEqual(before)
})

/** Gives the end user a further device that was freed, a leased seat and an added key; returns the device that is bound. */
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
  const added = { added_features: '["added"]', added_devices: 2, added_seat_timeout: 60 }
  await db.updateTable('clients').set(added).where('id', '=', user._id).execute()
  return bound!.id
}

async function rows() {
  const { db } = on.database
  const licenses = await db.selectFrom('licenses').selectAll().where('app_id', '=', app._id).execute()
  const endUsers = await db.selectFrom('clients').selectAll().where('app_id', '=', app._id).execute()
  const devices = await db.selectFrom('devices').selectAll().where('app_id', '=', app._id).execute()
  const ids = licenses.map(({ id }) => id)
  const seats = await db.selectFrom('leased_seats').selectAll().where('license_id', 'in', ids).execute()
  return { licenses, endUsers, devices, seats }
}

import { expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { type Tx, transact } from '../../src/db/open.ts'
import { freeAllDevices, takePlace, updateBinding } from '../../src/modules/devices/devices.access.ts'
import { lockEndUser, updateEndUser } from '../../src/modules/end-users/end-users.access.ts'
import * as endUsers from '../../src/modules/end-users/end-users.repo.ts'
import { giveBack, setAddedTime } from '../../src/modules/entitlements/added-time.ts'
import * as entitlements from '../../src/modules/entitlements/entitlements.service.ts'
import { setPaused } from '../../src/modules/entitlements/pauses.ts'
import { deleteByIds, setBanned, updateDetails } from '../../src/modules/licenses/licenses.repo.ts'
import { untilDate } from '../../src/modules/licenses/licenses.rules.ts'
import { makeLicenses, registerUser, single } from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = ownerForEach(on)
const app = appForEach(owner)

interface Ids {
  license: string
  unused: string
  user: string
}

const foreign = { ownerId: 'own_another' }
const ends = 32_000_000_000_000

test.each<[string, (tx: Tx, ids: Ids) => Promise<unknown>]>([
  [
    'redeem',
    (tx, { unused, user }) => entitlements.redeem(tx, foreign, { id: unused, ...untilDate(ends) }, user, 1),
  ],
  [
    'setFirstLicense',
    (tx, { unused, user }) =>
      entitlements.setFirstLicense(tx, foreign, { id: unused, ...untilDate(ends) }, user),
  ],
  ['setEndUserEnd', (tx, { user }) => entitlements.setEndUserEnd(tx, foreign, user, ends)],
  ['setLicenseEnd', (tx, { license }) => entitlements.setLicenseEnd(tx, foreign, license, ends)],
  ['extendLicenses', (tx, { license }) => entitlements.extendLicenses(tx, foreign, [license], 9, 1)],
  ['extendEndUsers', (tx, { user }) => entitlements.extendEndUsers(tx, foreign, [user], 9, 1)],
  ['freeLicensesOf', (tx, { user }) => entitlements.freeLicensesOf(tx, foreign, [user], 1)],
  [
    'expireUsersOf',
    (tx, { license, user }) =>
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
    (tx, { license, user }) =>
      giveBack(tx, foreign, [{ id: license, client_id: user, added_ms: day, taken_ms: day }]),
  ],
  [
    'setPaused',
    (tx, { user }) =>
      setPaused(tx, foreign, { id: user, paused_at: 1, expires_at: ends }, true, on.clock.now()),
  ],
  ['setAddedTime', (tx, { license }) => setAddedTime(tx, foreign, license, { before: 1, after: 2 })],
  ['lockEndUser', async (tx, { user }) => expect(await lockEndUser(tx, foreign, user)).toBeUndefined()],
  ['updateEndUser', (tx, { user }) => updateEndUser(tx, foreign, user, { banned: 1 })],
  [
    'takePlace',
    async (tx, { user }) =>
      expect(await takePlace(tx, foreign, user, { hwid: 'x' }, { limit: -1, removed: 0 })).toBe(false),
  ],
  ['updateBinding', (tx, { user }) => updateBinding(tx, foreign, user, { hwid: 'another' })],
  ['freeAllDevices', (tx, { user }) => freeAllDevices(tx, foreign, [user])],
  ['updateEndUsers', (tx, { user }) => endUsers.updateEndUsers(tx, foreign, [user], { banned: 1 })],
  ['deleteEndUsers', (tx, { user }) => endUsers.deleteEndUsers(tx, foreign, [user])],
  ['deleteSlice', (tx) => endUsers.deleteSlice(tx, foreign, app._id, 100)],
  ['updateDetails', (tx, { license }) => updateDetails(tx, foreign, license, { devices: 9 })],
  ['setBanned', (tx, { license }) => setBanned(tx, foreign, [license], 1)],
  ['deleteByIds', (tx, { license }) => deleteByIds(tx, foreign, [license])],
])('%s changes no row of another owner', async (_name, work) => {
  const { license, user } = await registerUser(on, owner, app)
  const unused = single(await makeLicenses(on, owner, app))
  on.clock.advance(day)
  const before = await rows()
  await transact(on.database.db, (tx) =>
    work(tx, { license: license._id, unused: unused._id, user: user._id }),
  )
  expect(before.licenses).toHaveLength(2)
  expect(before.endUsers).toHaveLength(1)
  expect(await rows()).toEqual(before)
})

async function rows() {
  const { db } = on.database
  const licenses = await db.selectFrom('licenses').selectAll().where('app_id', '=', app._id).execute()
  const endUsers = await db.selectFrom('clients').selectAll().where('app_id', '=', app._id).execute()
  return { licenses, endUsers }
}

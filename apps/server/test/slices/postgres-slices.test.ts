import { expect, test } from 'vitest'
import { allApps } from '../../src/core/actor.ts'
import { transact } from '../../src/db/transact.ts'
import { deleteAndExpireUsers } from '../../src/modules/licenses/licenses.service.ts'
import { makeLicenses } from '../actors.ts'
import { appForAll, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { statementsOf } from '../statements.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForAll(owner)

/** Notifications of other nodes, the settings of a new connection, and the upkeep of search indexes. */
const upkeep = /pg_notify|pg_backend_pid|gin_clean_pending_list|^set |set_config/

test('deletions of any number of licenses share their statements', async () => {
  const licenses = await makeLicenses(on, owner, app, 29)
  await on.database.db
    .insertInto('clients')
    .values(
      licenses.map(({ _id }, at) => ({
        id: `usr_${at}`,
        owner_id: owner.id,
        app_id: app._id,
        license_id: _id,
        username: `user${at}`,
        username_normalized: `user${at}`,
        expires_at: 4_000_000_000_000,
        created_at: 1,
      })),
    )
    .execute()
  for (const [at, { _id }] of licenses.entries()) {
    const used = { used: 1 as const, client_id: `usr_${at}` }
    await on.database.db.updateTable('licenses').set(used).where('id', '=', _id).execute()
  }
  const texts: string[][] = []
  // One license alone is inserted among the former keys without a list.
  for (const size of [2, 3, 4, 5, 7, 8]) {
    const ids = licenses.splice(0, size).map(({ _id }) => _id)
    const scope = allApps(owner.id)
    const sent = await statementsOf(on.database, () =>
      transact(on.database.db, (tx) => deleteAndExpireUsers({ tx, now: on.clock.now() }, scope, ids)),
    )
    texts.push(sent.map(({ text }) => text).filter((text) => !upkeep.test(text)))
  }
  expect(licenses).toEqual([])
  expect(texts[0]?.some((text) => text.startsWith('delete from "licenses"'))).toBe(true)
  for (const more of texts.slice(1)) expect(more).toEqual(texts[0])
  const left = await on.database.db.selectFrom('clients').select(['license_id', 'expires_at']).execute()
  expect(left.every((client) => client.license_id === null && client.expires_at < 4_000_000_000_000)).toBe(
    true,
  )
})

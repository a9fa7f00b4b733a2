// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import type { ActionName } from '@keyward/contract'
import { beforeEach, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import { thinRecords } from '../../src/modules/system/record-thinning.ts'
import type { Owner } from '../actors.ts'
import { ownerForEach, serverForAll, tidyUp } from '../fixtures.ts'
import { transactionsOn } from '../harness.ts'

const on = serverForAll()
const owner = ownerForEach(on)
const other = ownerForEach(on)

/** Records of a day, each a minute after the one before; returns their ids. */
async function add(
  by: Owner,
  daysAgo: number,
  count: number,
  record: { action: ActionName; target?: string; address?: string; actor?: string },
): Promise<string[]> {
  const first = Math.floor(on.clock.now() / day) * day - daysAgo * day
  const rows = Array.from({ length: count }, (_, at) => ({
    id: newId('aud'),
    owner_id: by.id,
    actor_kind: 'owner',
    actor_id: record.actor ?? by.id,
    session_id: null,
    address: record.address ?? '203.0.113.1',
    action: record.action,
    target_id: record.target ?? 'app_1',
    detail: '{}',
    created_at: first + at * 1000,
  }))
  await on.database.db.insertInto('audit').values(rows).execute()
  return rows.map(({ id }) => id)
}

const idsOf = async (by: Owner, action: ActionName) => {
  const rows = await on.database.db
    .selectFrom('audit')
    .select('id')
    .where('owner_id', '=', by.id)
    .where('action', '=', action)
    .execute()
  return rows.map(({ id }) => id).sort()
}

beforeEach(async () => {
  await on.database.db.deleteFrom('audit').execute()
  await on.database.db.deleteFrom('meta').where('name', '=', 'record_thinning').execute()
})

test('keeps the last of the repeated changes of a day, 30 days later', async () => {
  const variables = { action: 'app.variables_changed' } as const
  const old = await add(owner, 40, 50, variables)
  const next = await add(owner, 39, 50, variables)
  const fresh = await add(owner, 10, 50, variables)
  const theirs = await add(other, 40, 3, variables)
  await tidyUp(on)
  const kept = [old.at(-1), next.at(-1), ...fresh].sort()
  expect(await idsOf(owner, 'app.variables_changed')).toEqual(kept)
  expect(await idsOf(other, 'app.variables_changed')).toEqual([theirs.at(-1)])
  on.clock.advance(30 * day)
  await tidyUp(on)
  expect(await idsOf(owner, 'app.variables_changed')).toEqual([old.at(-1), next.at(-1), fresh.at(-1)].sort())
})

test('keeps what differs in object, actor or address, and every record that no repetition replaces', async () => {
  const action = 'app.updated'
  const kept = [
    ...(await add(owner, 40, 1, { action })),
    ...(await add(owner, 40, 1, { action, target: 'app_2' })),
    ...(await add(owner, 40, 1, { action, address: '203.0.113.2' })),
    ...(await add(owner, 40, 1, { action, actor: 'command line' })),
  ]
  const evidence: ActionName[] = [
    'license.banned',
    'end_user.extended',
    'licenses.created',
    'owner.password_changed',
    'app.secret_rotated',
    'licenses.deleted',
    'plan.paid',
  ]
  const expected = new Map<ActionName, string[]>()
  for (const one of evidence) expected.set(one, (await add(owner, 40, 5, { action: one })).sort())
  await tidyUp(on)
  expect(await idsOf(owner, action)).toEqual(kept.sort())
  for (const one of evidence) expect(await idsOf(owner, one)).toEqual(expected.get(one))
})

test('reads a bounded number of records in one run, and continues in the next ones', async () => {
  const long = await add(owner, 40, 700, { action: 'settings.updated' })
  const more = await add(owner, 50, 700, { action: 'settings.updated' })
  const theirs = await add(other, 40, 20, { action: 'settings.updated' })
  const { clock, database } = on
  const ctx = { clock, db: database.db, tx: transactionsOn(database, clock) }
  await thinRecords(ctx, 2)
  expect(
    (await idsOf(owner, 'settings.updated')).length + (await idsOf(other, 'settings.updated')).length,
  ).toBeGreaterThan(3)
  for (let run = 0; run < 10; run += 1) await thinRecords(ctx, 2)
  const kept = await idsOf(owner, 'settings.updated')
  expect(kept).toEqual(expect.arrayContaining([long.at(-1), more.at(-1)]))
  // A run that begins within a day cannot know what an earlier one kept of it.
  expect(kept.length).toBeLessThanOrEqual(6)
  expect(await idsOf(other, 'settings.updated')).toEqual([theirs.at(-1)])
})

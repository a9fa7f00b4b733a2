import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { customerOf } from '../../src/modules/customers/customers.access.ts'
import { makeApp, signUp } from '../actors.ts'
import { serverForAll } from '../fixtures.ts'
import { ctxOf } from '../harness.ts'
import { times } from '../rounds.ts'

const on = serverForAll()

const signUpWithApp = async () => {
  const vendor = await signUp(on)
  return { id: vendor.id, appId: (await makeApp(vendor))._id }
}
type Vendor = Awaited<ReturnType<typeof signUpWithApp>>

const find = ({ id: owner, appId }: Vendor, email: string, name?: string) =>
  ctxOf(on).tx({ kind: 'system', ownerId: owner }, async (write) => {
    const id = await customerOf(write, { owner, appId, seesAll: true, email, name })
    return write.tx.selectFrom('customers').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  })

test('32 concurrent callers with one address get one customer', async () => {
  const vendor = await signUpWithApp()
  const { id } = vendor
  const found = await Promise.all(
    Array.from({ length: 32 }, (_, at) =>
      find(vendor, at % 2 === 0 ? 'Ada@Engines.example' : ' ada@engines.EXAMPLE'),
    ),
  )
  expect(new Set(found.map((customer) => customer.id)).size).toBe(1)
  const rows = await on.database.db.selectFrom('customers').selectAll().where('owner_id', '=', id).execute()
  expect(rows).toHaveLength(1)
  const records = await on.database.db
    .selectFrom('audit')
    .select('target_id')
    .where('owner_id', '=', id)
    .where('action', '=', 'customer.created')
    .execute()
  expect(records).toEqual([{ target_id: found[0]?.id }])
})

test('a customer that is erased meanwhile is made again', async () => {
  const vendor = await signUpWithApp()
  const { id } = vendor
  const remove = () => on.database.db.deleteFrom('customers').where('owner_id', '=', id).execute()
  await times(20, () => Promise.all([find(vendor, 'ada@engines.example'), remove()]))
  expect((await find(vendor, 'ada@engines.example')).email).toBe('ada@engines.example')
})

test('two vendors have a customer each for one address', async () => {
  const [one, two] = [await signUpWithApp(), await signUpWithApp()]
  expect((await find(one, 'ada@engines.example')).id).not.toBe((await find(two, 'ada@engines.example')).id)
})

test('a name fills a missing one, and replaces none', async () => {
  const vendor = await signUpWithApp()
  expect((await find(vendor, 'ada@engines.example')).name).toBeNull()
  expect((await find(vendor, 'ada@engines.example', 'Ada')).name).toBe('Ada')
  expect((await find(vendor, 'ada@engines.example', 'Eve')).name).toBe('Ada')
})

test('deleting a vendor deletes its customers', async () => {
  const vendor = await signUpWithApp()
  const { id } = vendor
  await find(vendor, 'ada@engines.example')
  await sql`delete from owners where id = ${id}`.execute(on.database.db)
  const rows = await on.database.db.selectFrom('customers').select('id').where('owner_id', '=', id).execute()
  expect(rows).toEqual([])
})

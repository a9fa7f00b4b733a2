// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { expect, test } from 'vitest'
import { activateKey, makeApp, makeLicenses, makePremium, refusal, registerUser, signUp } from '../actors.ts'
import { keyward, runKeyward } from '../command-line.ts'
import { serverForAll } from '../fixtures.ts'
import { addMember, addPerson } from '../member-actor.ts'
import { makeReseller } from '../reseller-actor.ts'
import { makeWebhook } from '../webhook-actor.ts'

const on = serverForAll()
const remove = (email: string, ...more: string[]) => keyward(on, ['owner', 'delete', email, ...more])
const signIn = ({ email, password }: { email: string; password: string }) =>
  on.call('POST', '/auth/login', { body: { email, password } })

/** In how many tables rows of a vendor account are left. */
async function tablesWith(ownerId: string): Promise<string[]> {
  const left: string[] = []
  for (const table of [
    'owners',
    'apps',
    'licenses',
    'clients',
    'resellers',
    'members',
    'webhooks',
    'audit',
  ] as const) {
    const rows = await on.database.db
      .selectFrom(table)
      .select('id')
      .where(table === 'owners' ? 'id' : 'owner_id', '=', ownerId)
      .limit(1)
      .execute()
    if (rows.length > 0) left.push(table)
  }
  return left
}

test('deletes a vendor account with everything of it, and nothing of others', async () => {
  const [owner, other] = [await signUp(on), await signUp(on)]
  for (const one of [owner, other]) await makePremium(on, one)
  const app = await makeApp(owner)
  const member = await addMember(on, owner)
  await addPerson(on, owner, other)
  await makeReseller(on, owner, app)
  await makeWebhook(owner)
  await makeLicenses(on, owner, app, 60)
  await registerUser(on, owner, app)
  const { program } = await activateKey(on, owner, await makeApp(owner, 'Second'))
  const kept = await makeApp(other)
  await makeLicenses(on, other, kept, 2)

  const { code, stdout, stderr } = await remove(owner.email.toUpperCase(), '--yes', '--json')
  expect([code, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toEqual({ email: owner.email, owner: owner.id, deleted: true, person: true })
  expect(await tablesWith(owner.id)).toEqual([])
  expect(refusal(await signIn(owner))).toBe('invalid_credentials')
  expect(refusal(await signIn(member))).toBe('no_vendor')
  expect((await program.call('GET', '/session')).status).toBeGreaterThanOrEqual(400)
  expect((await other.call('GET', `/licenses?app=${kept._id}`)).json.data.licenses).toHaveLength(2)
  const records = await on.database.db
    .selectFrom('audit')
    .select(['actor_kind', 'owner_id', 'detail'])
    .where('action', '=', 'vendor.deleted')
    .where('target_id', '=', owner.id)
    .execute()
  const detail = JSON.stringify({ account: owner.accountId })
  expect(records).toEqual([{ actor_kind: 'operator', owner_id: null, detail }])
  expect((await remove(owner.email, '--yes')).stderr).toContain('There is no owner with the email')
})

test('keeps a person who is a member of another vendor', async () => {
  const [owner, other] = [await signUp(on), await signUp(on)]
  await addPerson(on, other, owner)
  const { stdout } = await remove(owner.email, '--yes')
  expect(stdout).toBe(`${owner.email}: deleted; the person stays, as a member of another vendor\n`)
  expect((await signIn(owner)).json.data.user.vendor._id).toBe(other.id)
})

test('deletes nothing unless its address is typed, or while a payment is on its way', async () => {
  const owner = await signUp(on)
  const { dataDir, databaseUrl = '', secretKey = '' } = on.config
  const environment = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, SECRET_KEY: secretKey }
  const type = (line: string) =>
    runKeyward(['owner', 'delete', owner.email], environment, ({ stdin }) => void stdin?.end(line))
  for (const line of ['', 'yes\n']) {
    const { code, stdout, stderr } = await type(line)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('Nothing was deleted.')
  }
  expect((await owner.call('POST', '/payments/razorpay/create-order', {})).status).toBe(200)
  const order = () => on.database.db.updateTable('payment_orders').where('owner_id', '=', owner.id)
  // The command line has the time of the machine.
  await order().set({ expires_at: Number.MAX_SAFE_INTEGER }).execute()
  const refused = await remove(owner.email, '--yes')
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('still being processed')])
  await order().set({ expires_at: 0 }).execute()
  expect((await owner.call('GET', '/auth/profile')).status).toBe(200)
  expect(await type(`${owner.email}\n`)).toMatchObject({ code: 0, stdout: `${owner.email}: deleted\n` })
  expect(refusal(await owner.call('GET', '/auth/profile'))).toBe('unauthorized')
})

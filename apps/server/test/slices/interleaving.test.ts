import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { allApps } from '../../src/core/actor.ts'
import { day } from '../../src/core/clock.ts'
import { Passwords } from '../../src/core/passwords/passwords.ts'
import type { Tx } from '../../src/db/index.ts'
import { transact } from '../../src/db/transact.ts'
import { lockEndUser } from '../../src/modules/end-users/end-users.access.ts'
import { redeem } from '../../src/modules/entitlements/entitlements.service.ts'
import { changeAccess } from '../../src/modules/entitlements/grants.ts'
import { untilDate } from '../../src/modules/licenses/licenses.rules.ts'
import { makeLicenses, makePremium, refusal, registerUser, single, startProgram } from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { recount } from '../recount.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll({}, { passwords: new Passwords() })
const owner = ownerForEach(on)
const app = appForEach(owner)
const scope = () => allApps(owner.id)
afterEach(async () => {
  const { kept, counted } = await recount(on)
  expect(kept).toEqual(counted)
})

/** Long enough for a request to reach the lock that an open transaction holds. */
const reachLockMs = 300

/** Sends a request while a transaction holds uncommitted changes, then lets that transaction commit. */
async function whileOpen(change: (tx: Tx) => Promise<unknown>, call: () => Promise<Answer>): Promise<Answer> {
  let answer: Promise<Answer> | undefined
  await transact(on.database.db, async (tx) => {
    await change(tx)
    answer = call()
    await pause(reachLockMs)
  })
  return answer as Promise<Answer>
}

/** Writes what a password change writes. */
const writePasswordChange = async (tx: Tx) => {
  const { accountId } = owner
  await tx.updateTable('accounts').set({ password_hash: 'another' }).where('id', '=', accountId).execute()
  await tx.deleteFrom('owner_sessions').where('account_id', '=', accountId).execute()
}

const account = () =>
  on.database.db
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', owner.accountId)
    .executeTakeFirstOrThrow()
const sessions = () =>
  on.database.db.selectFrom('owner_sessions').select('id').where('owner_id', '=', owner.id).execute()
const userOf = (id: string) =>
  on.database.db.selectFrom('clients').selectAll().where('id', '=', id).executeTakeFirst()
const licenseOf = (id: string) =>
  on.database.db.selectFrom('licenses').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

test('rejects a sign-in with the old password during a password change', async () => {
  const { email, password } = owner
  const answer = await whileOpen(writePasswordChange, () =>
    on.call('POST', '/auth/login', { body: { email, password } }),
  )
  expect(refusal(answer)).toBe('invalid_credentials')
  expect(await sessions()).toEqual([])
})

test('the second of two concurrent password changes fails and changes nothing', async () => {
  const body = { currentPassword: owner.password, newPassword: 'mine from now on' }
  const answer = await whileOpen(writePasswordChange, () => owner.call('PUT', '/auth/password', body))
  expect(refusal(answer)).toBe('unauthorized')
  expect((await account()).password_hash).toBe('another')
  expect(await sessions()).toEqual([])
})

test('rejects an email change during a password change', async () => {
  const body = { email: 'elsewhere@example.com', password: owner.password }
  const answer = await whileOpen(writePasswordChange, () => owner.call('PUT', '/auth/email', body))
  expect(refusal(answer)).toBe('unauthorized')
  expect((await account()).email).toBe(owner.email)
})

test('a first use during an expiry change leaves license and user with the same expiry', async () => {
  const license = single(await makeLicenses(on, owner, app))
  const program = await startProgram(on, app)
  const expiresAt = on.clock.now() + day
  const answer = await whileOpen(
    (tx) =>
      changeAccess({ tx, now: on.clock.now() }, scope(), { licenses: [license._id] }, () => ({
        added: [{ kind: 'end', until: expiresAt, source_kind: 'person', source_id: null }],
      })),
    () => program.call('POST', '/license', { licenseKey: license.key }),
  )
  expect(answer.json.data.user.expiresAt).toBe(new Date(expiresAt).toISOString())
  expect(await userOf(answer.json.data.user._id)).toMatchObject({ expires_at: expiresAt })
  expect(await licenseOf(license._id)).toMatchObject({ used: 1, expires_at: expiresAt })
})

test('deleting a user while a key is added leaves that key unused', async () => {
  const { license, user } = await registerUser(on, owner, app)
  const added = single(await makeLicenses(on, owner, app))
  const answer = await whileOpen(
    async (tx) => {
      await lockEndUser(tx, scope(), user._id)
      await redeem(
        tx,
        scope(),
        { id: added._id, ...untilDate(on.clock.now() + day) },
        user._id,
        on.clock.now(),
      )
    },
    () => owner.call('DELETE', `/clients/${user._id}`),
  )
  expect(answer.status).toBe(200)
  expect(await userOf(user._id)).toBeUndefined()
  for (const { _id } of [license, added]) {
    expect(await licenseOf(_id)).toMatchObject({ used: 0, used_at: null, client_id: null })
  }
})

describe('a reseller during its suspension', () => {
  const suspended = (id: string) => async (tx: Tx) => {
    await tx.updateTable('resellers').set({ active: 0 }).where('id', '=', id).execute()
    await tx.deleteFrom('reseller_sessions').where('reseller_id', '=', id).execute()
  }
  const idOf = async (email: string) =>
    (
      await on.database.db
        .selectFrom('resellers')
        .select('id')
        .where('email', '=', email)
        .executeTakeFirstOrThrow()
    ).id

  test('generates no license with an existing session', async () => {
    await makePremium(on, owner)
    const reseller = await makeReseller(on, owner, app)
    const body = { count: 1, expiresAt: on.clock.inDays(1) }
    const answer = await whileOpen(suspended(await idOf(reseller.email)), () =>
      reseller.call('POST', '/licenses', body),
    )
    expect(refusal(answer)).toBe('unauthorized')
    expect((await owner.call('GET', `/licenses?app=${app._id}`)).json.data.stats.total).toBe(0)
  })

  test('cannot sign in', async () => {
    await makePremium(on, owner)
    const { email, password } = await makeReseller(on, owner, app)
    const id = await idOf(email)
    const answer = await whileOpen(suspended(id), () =>
      on.call('POST', '/resellers/auth/login', { body: { email, password } }),
    )
    expect(refusal(answer)).toBe('invalid_credentials')
    const left = on.database.db.selectFrom('reseller_sessions').select('id').where('reseller_id', '=', id)
    expect(await left.execute()).toEqual([])
  })
})

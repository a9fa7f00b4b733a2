// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { minute } from '../../src/core/clock.ts'
import { sha256 } from '../../src/core/crypto.ts'
import { transact } from '../../src/db/transact.ts'
import { makeApp, makePremium, type Owner, refusal, signUp, wrongFields } from '../actors.ts'
import { tidyUp } from '../fixtures.ts'
import { type Answer, startServer, type TestServer } from '../harness.ts'
import { mailedLinks, textsTo } from '../mailed.ts'
import { makeReseller } from '../reseller-actor.ts'
import { SmtpSink } from '../smtp-sink.ts'

let sink: SmtpSink
let on: TestServer
beforeAll(async () => {
  sink = await SmtpSink.start()
  on = await startServer({ SMTP_URL: `smtp://${sink.host}`, PUBLIC_URL: 'http://127.0.0.1:4000/keys' })
})
afterAll(async () => {
  await on.close()
  await sink.stop()
})

interface Account {
  email: string
  password: string
  /** The row's id, and the owner whose audit log records the reset. */
  id: string
  ownerId: string
  token: string
}

const kinds = {
  owner: {
    base: '/auth',
    page: '/auth/reset',
    make: async (): Promise<Account> => {
      const owner = await signUp(on)
      return { ...owner, id: owner.accountId, ownerId: owner.id }
    },
  },
  reseller: {
    base: '/resellers/auth',
    page: '/reseller/auth/reset',
    make: async (): Promise<Account> => {
      const { owner, reseller } = await makeSeller()
      return { ...reseller, id: reseller._id, ownerId: owner.id }
    },
  },
}

async function makeSeller() {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const reseller = await makeReseller(on, owner, await makeApp(owner))
  return { owner, reseller }
}

const requestLink = (base: string, email: string) =>
  on.call('POST', `${base}/forgot-password`, { body: { email } })
const setPassword = (base: string, token: string, password = 'a better horse') =>
  on.call('POST', `${base}/reset-password`, { body: { token, password } })
const signIn = (base: string, email: string, password: string) =>
  on.call('POST', `${base}/login`, { body: { email, password } })
const profile = async (base: string, token: string) =>
  (await on.call('GET', `${base}/profile`, { token })).status

/** Requests a link and waits for its token. */
async function requestToken(base: string, email: string): Promise<string> {
  const before = mailedLinks(sink, email).length
  expect((await requestLink(base, email)).status).toBe(200)
  await expect.poll(() => mailedLinks(sink, email).length).toBe(before + 1)
  return (mailedLinks(sink, email).at(-1) ?? '').split('#')[1] ?? ''
}

const resetsOf = (id: string) =>
  on.database.db
    .selectFrom('password_resets')
    .selectAll()
    .where((eb) => eb.or([eb('account_id', '=', id), eb('reseller_id', '=', id)]))
    .execute()
const auditOf = (ownerId: string) =>
  on.database.db
    .selectFrom('audit')
    .select(['actor_kind', 'actor_id', 'address', 'action', 'target_id'])
    .where('owner_id', '=', ownerId)
    .where('action', 'like', '%password_reset%')
    .orderBy('id')
    .execute()

describe.each(Object.entries(kinds))('resetting the password of %s', (kind, { base, page, make }) => {
  test('mails a link, signs in with the new password, and ends all other sessions', async () => {
    const account = await make()
    expect((await requestLink(base, account.email.toUpperCase())).status).toBe(200)
    await expect.poll(() => mailedLinks(sink, account.email).length).toBe(1)
    const token = mailedLinks(sink, account.email)[0]?.split('#')[1] ?? ''
    expect(mailedLinks(sink, account.email)).toEqual([`http://127.0.0.1:4000/keys${page}#${token}`])

    const { status, json } = await setPassword(base, token)
    expect(status).toBe(200)
    expect(await profile(base, json.data.token)).toBe(200)
    expect(json.data[kind === 'owner' ? 'user' : 'reseller']).toMatchObject({
      _id: account.id,
      email: account.email,
    })
    expect(await profile(base, account.token)).toBe(401)
    expect(refusal(await signIn(base, account.email, account.password))).toBe('invalid_credentials')
    expect((await signIn(base, account.email, 'a better horse')).status).toBe(200)

    await expect.poll(() => textsTo(sink, account.email).length).toBe(2)
    const [, confirmation] = textsTo(sink, account.email)
    expect(confirmation).toContain('was changed')
    expect(confirmation).toContain(`http://127.0.0.1:4000/keys${page.replace('/reset', '/forgot')}`)
    expect(confirmation).not.toContain('kwp_')
  })

  test('stores only a hash, expires after 30 minutes, and is deleted afterwards', async () => {
    const account = await make()
    const token = await requestToken(base, account.email)
    expect(token).toMatch(/^kwp_[\w-]{43}$/)
    const [row, ...more] = await resetsOf(account.id)
    expect(more).toEqual([])
    expect(row?.token_hash).toBe(sha256(token))
    expect(JSON.stringify(row)).not.toContain(token)
    on.clock.advance(30 * minute)
    expect(refusal(await setPassword(base, token))).toBe('reset_link_invalid')
    expect((await signIn(base, account.email, account.password)).status).toBe(200)
    await tidyUp(on)
    expect(await resetsOf(account.id)).toEqual([])
  })

  test('accepts a link within its last minute', async () => {
    const account = await make()
    const token = await requestToken(base, account.email)
    on.clock.advance(30 * minute - 1)
    expect((await setPassword(base, token)).status).toBe(200)
  })

  test('accepts a link once and revokes all other links', async () => {
    const account = await make()
    const [first, second, third] = [
      await requestToken(base, account.email),
      await requestToken(base, account.email),
      await requestToken(base, account.email),
    ]
    expect((await setPassword(base, second ?? '')).status).toBe(200)
    for (const token of [first, second, third]) {
      expect(refusal(await setPassword(base, token ?? '', 'yet another'))).toBe('reset_link_invalid')
    }
    expect((await signIn(base, account.email, 'a better horse')).status).toBe(200)
  })

  test('exactly one of 16 concurrent uses of a link succeeds', async () => {
    const account = await make()
    const token = await requestToken(base, account.email)
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => setPassword(base, token, `password number ${index}`)),
    )
    const set = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []))
    expect(set).toHaveLength(1)
    expect((await signIn(base, account.email, `password number ${set[0]}`)).status).toBe(200)
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(['reset_link_invalid', 'busy']).toContain(refusal(answer))
    }
  })

  test('an invalid password does not use up the link', async () => {
    const account = await make()
    const token = await requestToken(base, account.email)
    expect(wrongFields(await setPassword(base, token, 'short'))).toEqual(['password'])
    expect((await setPassword(base, token)).status).toBe(200)
  })

  test('records the request and the change', async () => {
    const account = await make()
    await setPassword(base, await requestToken(base, account.email))
    expect(await auditOf(account.ownerId)).toEqual([
      {
        actor_kind: 'anonymous',
        actor_id: 'anonymous',
        address: '127.0.0.1',
        action: `${kind}.password_reset_requested`,
        target_id: account.id,
      },
      {
        actor_kind: kind,
        actor_id: account.id,
        address: '127.0.0.1',
        action: `${kind}.password_reset`,
        target_id: account.id,
      },
    ])
  })

  test('answers an unknown address identically and mails nothing', async () => {
    const account = await make()
    const known = await requestLink(base, account.email)
    const unknown = await requestLink(base, 'nobody@example.com')
    expect(unknown.raw.toString()).toBe(known.raw.toString())
    expect(unknown.status).toBe(known.status)
    await expect.poll(() => mailedLinks(sink, account.email).length).toBe(1)
    expect(textsTo(sink, 'nobody@example.com')).toEqual([])
  })

  test('rejects session tokens and tokens of the other account kind', async () => {
    const account = await make()
    const token = await requestToken(base, account.email)
    const other = kind === 'owner' ? '/resellers/auth' : '/auth'
    expect(refusal(await setPassword(other, token))).toBe('reset_link_invalid')
    for (const wrong of [account.token, sha256(token), `${token}x`, 'x']) {
      expect(refusal(await setPassword(base, wrong))).toBe('reset_link_invalid')
    }
    expect(await profile(base, token)).toBe(401)
    expect((await setPassword(base, token)).status).toBe(200)
  })
})

describe('a reset link of an owner is revoked', () => {
  test.each<[string, (owner: Owner) => Promise<Answer>]>([
    [
      'a change of the password',
      (owner) =>
        owner.call('PUT', '/auth/password', { currentPassword: owner.password, newPassword: 'own choice' }),
    ],
    [
      'a change of the email',
      (owner) => owner.call('PUT', '/auth/email', { email: `new-${owner.email}`, password: owner.password }),
    ],
  ])('by %s', async (_name, change) => {
    const owner = await signUp(on)
    const token = await requestToken('/auth', owner.email)
    const otherOwner = await signUp(on)
    const kept = await requestToken('/auth', otherOwner.email)
    expect((await change(owner)).status).toBe(200)
    expect(refusal(await setPassword('/auth', token))).toBe('reset_link_invalid')
    expect((await setPassword('/auth', kept)).status).toBe(200)
  })

  test('and not by a reset of one of its resellers, nor the reverse', async () => {
    const { owner, reseller } = await makeSeller()
    const ofOwner = await requestToken('/auth', owner.email)
    const ofReseller = await requestToken('/resellers/auth', reseller.email)
    expect((await setPassword('/resellers/auth', ofReseller)).status).toBe(200)
    const again = await requestToken('/resellers/auth', reseller.email)
    expect((await setPassword('/auth', ofOwner)).status).toBe(200)
    expect((await setPassword('/resellers/auth', again)).status).toBe(200)
  })
})

describe('a reseller', () => {
  test('who is suspended gets no link, and an earlier one stays revoked after reactivation', async () => {
    const { owner, reseller } = await makeSeller()
    const setActive = (active: boolean) => owner.call('PUT', `/resellers/${reseller._id}`, { active })
    const token = await requestToken('/resellers/auth', reseller.email)
    await setActive(false)
    expect(refusal(await setPassword('/resellers/auth', token))).toBe('reset_link_invalid')
    expect((await requestLink('/resellers/auth', reseller.email)).status).toBe(200)
    const other = await makeReseller(on, owner, { _id: await appOf(reseller._id) })
    await requestToken('/resellers/auth', other.email)
    expect(mailedLinks(sink, reseller.email)).toHaveLength(1)
    await setActive(true)
    expect(refusal(await setPassword('/resellers/auth', token))).toBe('reset_link_invalid')
  })

  test('who is suspended while the new password is hashed keeps the old one', async () => {
    const { reseller } = await makeSeller()
    const token = await requestToken('/resellers/auth', reseller.email)
    let answer: Promise<Answer> | undefined
    await transact(on.database.db, async (tx) => {
      await tx.updateTable('resellers').set({ active: 0 }).where('id', '=', reseller._id).execute()
      answer = setPassword('/resellers/auth', token)
      await pause(reachLockMs)
    })
    expect(refusal((await answer)!)).toBe('reset_link_invalid')
    await transact(on.database.db, (tx) =>
      tx.updateTable('resellers').set({ active: 1 }).where('id', '=', reseller._id).execute(),
    )
    const signedIn = await signIn('/resellers/auth', reseller.email, reseller.password)
    expect(signedIn.status).toBe(200)
  })

  test('cannot sign in with the old password while a new one is being set', async () => {
    const { reseller } = await makeSeller()
    let answer: Promise<Answer> | undefined
    await transact(on.database.db, async (tx) => {
      await tx
        .updateTable('resellers')
        .set({ password_hash: 'another' })
        .where('id', '=', reseller._id)
        .execute()
      answer = signIn('/resellers/auth', reseller.email, reseller.password)
      await pause(reachLockMs)
    })
    expect(refusal((await answer)!)).toBe('invalid_credentials')
  })

  test('gets a new password trimmed as at sign-in, with at least six characters', async () => {
    const { reseller } = await makeSeller()
    const token = await requestToken('/resellers/auth', reseller.email)
    expect(wrongFields(await setPassword('/resellers/auth', token, '  12345  '))).toEqual(['password'])
    expect((await setPassword('/resellers/auth', token, '  sell more  ')).status).toBe(200)
    expect((await signIn('/resellers/auth', reseller.email, 'sell more ')).status).toBe(200)
  })
})

const appOf = async (resellerId: string) =>
  (
    await on.database.db
      .selectFrom('resellers')
      .select('app_id')
      .where('id', '=', resellerId)
      .executeTakeFirstOrThrow()
  ).app_id

/** Long enough for a request to reach the lock that an open transaction holds. */
const reachLockMs = 300

test('mails no link to the old address during an email change', async () => {
  const owner = await signUp(on)
  const email = `moved-${owner.email}`
  let answer: Promise<Answer> | undefined
  await transact(on.database.db, async (tx) => {
    await tx
      .updateTable('accounts')
      .set({ email, email_normalized: email })
      .where('id', '=', owner.accountId)
      .execute()
    answer = requestLink('/auth', owner.email)
    await pause(reachLockMs)
  })
  expect((await answer)?.status).toBe(200)
  await requestToken('/auth', email)
  expect(mailedLinks(sink, owner.email)).toEqual([])
  expect(await resetsOf(owner.accountId)).toHaveLength(1)
})

test('the mail names the stored address and nothing an attacker can setPassword', async () => {
  const email = 'victim@example.com'
  const body = { name: 'Click http://evil.example now', email, password: 'correct horse' }
  expect((await on.call('POST', '/auth/register', { body })).status).toBe(201)
  await requestLink('/auth', email.toUpperCase())
  await expect.poll(() => textsTo(sink, email).length).toBe(1)
  expect(textsTo(sink, email)[0]).toContain(email)
  expect(textsTo(sink, email)[0]).not.toContain('evil.example')
})

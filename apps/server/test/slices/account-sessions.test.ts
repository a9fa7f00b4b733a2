// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { day, minute } from '../../src/core/clock.ts'
import { makeApp, makePremium, refusal, signUp } from '../actors.ts'
import { serverForAll } from '../fixtures.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll()

interface Account {
  base: string
  token: string
  email: string
  password: string
}

async function makeSeller(): Promise<Account> {
  const owner = await signUp(on)
  await makePremium(on, owner)
  const reseller = await makeReseller(on, owner, await makeApp(owner))
  return { base: '/resellers/auth', ...reseller }
}

const kinds = {
  'an owner': async (): Promise<Account> => ({ base: '/auth', ...(await signUp(on)) }),
  'a reseller': makeSeller,
}

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0'

describe.each(Object.entries(kinds))('the sessions of %s', (_name, make) => {
  const signIn = async ({ base, email, password }: Account, from = '127.0.0.1', agent = firefox) => {
    const { status, json } = await on.call('POST', `${base}/login`, {
      body: { email, password },
      from,
      headers: { 'user-agent': agent },
    })
    expect(status).toBe(200)
    return json.data.token as string
  }
  const list = async ({ base }: Account, token: string, from?: string) => {
    const { status, json } = await on.call('GET', `${base}/sessions`, { token, ...(from ? { from } : {}) })
    expect(status).toBe(200)
    return json.data.sessions
  }
  /** Others of the same time have no order. */
  const currentOf = async (account: Account, token: string, from?: string) =>
    (await list(account, token, from)).find(({ current }: { current: boolean }) => current)
  const isOpen = async ({ base }: Account, token: string) =>
    (await on.call('GET', `${base}/profile`, { token })).status === 200

  test('are listed last used first, with address, program and times, and name that of the request', async () => {
    const account = await make()
    on.clock.advance(minute)
    const began = new Date(on.clock.now()).toISOString()
    const token = await signIn(account, '203.0.113.7')
    const sessions = await list(account, token)
    expect(sessions).toHaveLength(2)
    expect(sessions[0]).toEqual({
      _id: expect.stringMatching(/^ses_/),
      current: true,
      address: '203.0.113.7',
      agent: firefox,
      createdAt: began,
      lastUsedAt: began,
    })
    expect(sessions[1]).toMatchObject({ current: false, address: '127.0.0.1' })
    expect(JSON.stringify(sessions)).not.toContain(token)
  })

  test('note their last use and its address, at most every ten minutes', async () => {
    const account = await make()
    const token = await signIn(account)
    const first = await currentOf(account, token)
    on.clock.advance(10 * minute - 1)
    await isOpen(account, token)
    expect(await currentOf(account, token, '198.51.100.2')).toEqual(first)
    on.clock.advance(1)
    await on.call('GET', `${account.base}/profile`, { token, from: '198.51.100.2' })
    const used = await currentOf(account, token)
    expect(used).toEqual({
      ...first,
      address: '198.51.100.2',
      lastUsedAt: new Date(on.clock.now()).toISOString(),
    })
  })

  test('keep the User-Agent as bounded text', async () => {
    const account = await make()
    const token = await signIn(account, '127.0.0.1', `<b>\t${'x'.repeat(5000)}`)
    expect((await currentOf(account, token)).agent).toBe(`<b> ${'x'.repeat(296)}`)
  })

  test('end one by one, at once', async () => {
    const account = await make()
    const [mine, stolen] = [await signIn(account), await signIn(account, '203.0.113.9')]
    const found = (await list(account, mine)).find(
      ({ address }: { address: string }) => address === '203.0.113.9',
    )
    const end = () => on.call('DELETE', `${account.base}/sessions/${found._id}`, { token: mine })
    expect((await end()).status).toBe(200)
    expect(await isOpen(account, stolen)).toBe(false)
    expect(await isOpen(account, mine)).toBe(true)
    expect(await isOpen(account, account.token)).toBe(true)
    expect(refusal(await end())).toBe('not_found')
  })

  test('end all but that of the request', async () => {
    const account = await make()
    const other = await make()
    const [mine, stolen] = [await signIn(account), await signIn(account)]
    const end = () => on.call('DELETE', `${account.base}/sessions`, { token: mine })
    expect((await end()).status).toBe(200)
    expect(await isOpen(account, stolen)).toBe(false)
    expect(await isOpen(account, account.token)).toBe(false)
    expect(await isOpen(account, mine)).toBe(true)
    expect(await list(account, mine)).toHaveLength(1)
    expect(await isOpen(other, other.token)).toBe(true)
    const recorded = async () =>
      (
        await on.database.db
          .selectFrom('audit')
          .select('id')
          .where('action', 'in', ['owner.sessions_ended', 'reseller.sessions_ended'])
          .execute()
      ).length
    const before = await recorded()
    expect((await end()).status).toBe(200)
    expect(await recorded()).toBe(before)
  })

  test('of another are like missing ones', async () => {
    const [account, other] = [await make(), await make()]
    const theirs = (await list(other, other.token))[0]._id
    const end = (id: string) => on.call('DELETE', `${account.base}/sessions/${id}`, { token: account.token })
    const [foreign, missing] = [await end(theirs), await end(`ses_${'0'.repeat(32)}`)]
    expect(refusal(foreign)).toBe('not_found')
    expect(foreign.json).toEqual(missing.json)
    expect(await isOpen(other, other.token)).toBe(true)
  })

  test('that have expired are not listed', async () => {
    const account = await make()
    on.clock.advance(20 * day)
    const token = await signIn(account)
    on.clock.advance(10 * day)
    expect(await list(account, token)).toHaveLength(1)
  })
})

test('a session of an owner is no session of a reseller', async () => {
  const owner = await signUp(on)
  const seller = await makeSeller()
  const { sessions } = (await owner.call('GET', '/auth/sessions')).json.data
  const answer = await on.call('DELETE', `/resellers/auth/sessions/${sessions[0]._id}`, {
    token: seller.token,
  })
  expect(refusal(answer)).toBe('not_found')
  expect((await owner.call('GET', '/auth/profile')).status).toBe(200)
})

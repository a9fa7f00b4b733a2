// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import type { SigningKey } from '@keyward/contract'
import { expect, test } from 'vitest'
import { type Owner, refusal } from '../actors.ts'
import { exchange, type PublicKey, verifies } from '../exchange.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner: Owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const path = () => `/apps/${app._id}/signing-keys`
const list = async (): Promise<SigningKey[]> => (await owner.call('GET', path())).json.data.signingKeys
const make = async (): Promise<SigningKey> => (await owner.call('POST', path())).json.data.signingKeys[0]
const act = (kid: string, change: 'promote' | 'revoke') => owner.call('POST', `${path()}/${kid}/${change}`)
const statuses = async () => (await list()).map(({ status }) => status)

/** Asks as a program that pins these keys; returns the key that signed, after verifying the signature with it. */
async function signerFor(pinned?: readonly string[]): Promise<string> {
  const headers: Record<string, string> = pinned ? { 'keyward-keys': pinned.join(', ') } : {}
  const answered = await exchange(on, {
    method: 'POST',
    path: '/client/validate',
    headers,
    body: { appId: app.appId, licenseKey: 'none' },
  })
  const input = String(answered.answer.headers['signature-input'])
  const kid = /keyid="([^"]+)"/.exec(input)?.[1] ?? ''
  const keys = (await list()) as readonly PublicKey[]
  expect(
    await verifies(
      answered,
      keys.filter((key) => key.kid === kid),
    ),
  ).toBe(true)
  return kid
}

test('an app starts with one current key, which signs whatever a program pins', async () => {
  const [first] = await list()
  expect(await statuses()).toEqual(['current'])
  for (const pinned of [undefined, [first!.kid], ['unknown'], []])
    expect(await signerFor(pinned)).toBe(first!.kid)
})

test('a rotation breaks no program: each gets a signature of the newest key that it pins', async () => {
  const [first] = await list()
  const second = await make()
  expect(await statuses()).toEqual(['next', 'current'])
  expect(await signerFor()).toBe(first!.kid)
  expect(await signerFor([first!.kid])).toBe(first!.kid)
  expect(await signerFor([first!.kid, second.kid])).toBe(second.kid)

  expect((await act(second.kid, 'promote')).status).toBe(200)
  expect(await statuses()).toEqual(['current', 'retired'])
  expect(await signerFor()).toBe(first!.kid)
  expect(await signerFor([first!.kid])).toBe(first!.kid)
  expect(await signerFor([second.kid])).toBe(second.kid)

  const third = await make()
  expect(await signerFor([first!.kid, second.kid, third.kid])).toBe(third.kid)
})

test('a revoked key signs nothing, from the next answer on', async () => {
  const [first] = await list()
  const second = await make()
  await act(second.kid, 'promote')
  expect(await signerFor([first!.kid])).toBe(first!.kid)
  expect((await act(first!.kid, 'revoke')).status).toBe(200)
  expect(await statuses()).toEqual(['current', 'revoked'])
  for (const pinned of [undefined, [first!.kid], [first!.kid, second.kid]])
    expect(await signerFor(pinned)).toBe(second.kid)

  const { answer } = await exchange(on, { method: 'GET', path: `/client/apps/${app.appId}/keys` })
  const { keys } = answer.json.data
  expect(keys.map(({ kid, status }: SigningKey) => [kid, status])).toEqual([[second.kid, 'current']])
})

test('rejects a second next key, promoting another key and revoking the current one', async () => {
  const [first] = await list()
  expect(refusal(await act(first!.kid, 'revoke'))).toBe('conflict')
  expect(refusal(await act(first!.kid, 'promote'))).toBe('conflict')
  const second = await make()
  expect(refusal(await owner.call('POST', path()))).toBe('conflict')
  await act(second.kid, 'revoke')
  expect(refusal(await act(second.kid, 'revoke'))).toBe('conflict')
  expect(refusal(await act(second.kid, 'promote'))).toBe('conflict')
  expect(refusal(await act('unknown', 'promote'))).toBe('not_found')
  expect(await statuses()).toEqual(['revoked', 'current'])
})

test('exactly one of many concurrent callers makes the next key, or promotes it', async () => {
  const made = await Promise.all(Array.from({ length: 8 }, () => owner.call('POST', path())))
  expect(made.filter(({ status }) => status === 201)).toHaveLength(1)
  const [next] = await list()
  const promoted = await Promise.all(Array.from({ length: 8 }, () => act(next!.kid, 'promote')))
  expect(promoted.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(await statuses()).toEqual(['current', 'retired'])
})

test('an absurd header is ignored, and the answer is signed by the usual key', async () => {
  const [first] = await list()
  await make()
  expect(await signerFor([',,,', 'x'.repeat(8_000), '__proto__'])).toBe(first!.kid)
})

import { expect, test } from 'vitest'
import { hashesAtOnce } from '../core/passwords/hash-threads.ts'
import { Passwords } from '../core/passwords/passwords.ts'
import { Attempts, guardPassword } from './attempts.ts'
import type { Ctx } from './ctx.ts'

const attemptsWithoutLimits = () =>
  new Attempts({ config: { rateLimits: 'off' }, passwords: new Passwords() } as Ctx)

const turnOfLoop = () => new Promise((resolve) => setImmediate(resolve))

test('lets one sign-in wait ready for the next thread that hashes, and no more', async () => {
  const attempts = attemptsWithoutLimits()
  const verifying: (() => void)[] = []
  const signIn = () =>
    guardPassword(
      attempts,
      { account: 'a', address: '192.0.2.1' },
      () => new Promise<true>((resolve) => verifying.push(() => resolve(true))),
    )
  const signIns = Array.from({ length: hashesAtOnce + 4 }, signIn)
  for (let turn = 0; turn < 2 * signIns.length; turn += 1) await turnOfLoop()
  expect(verifying).toHaveLength(hashesAtOnce + 1)
  for (let at = 0; at < signIns.length; at += 1) {
    verifying[at]?.()
    await turnOfLoop()
    await turnOfLoop()
  }
  expect(await Promise.all(signIns)).toEqual(signIns.map(() => true))
})

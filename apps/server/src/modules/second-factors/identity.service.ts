import type { BodyOf, DataOf, endpoints } from '@keyward/contract'
import type { PersonActor, ResellerActor } from '../../core/actor.ts'
import { invalid } from '../../core/problem.ts'
import { renewProof } from '../sessions/account-sessions.service.ts'
import type { Self } from './holders.ts'
import { type Factors, proofOptions, withFactor } from './second-factors.proofs.ts'

type Calls = (typeof endpoints)['accountSessions']
type SignedIn = PersonActor | ResellerActor

/** What a signed-in person can prove its identity with. */
export async function identityOptions(
  factors: Factors,
  self: Self,
): Promise<DataOf<Calls['confirmOptions']>> {
  const offer = await proofOptions(factors, self)
  if (!offer) return { methods: ['password'], options: null }
  return { methods: offer.methods.filter((method) => method !== 'recovery'), options: offer.options }
}

/**
 * Renews the proof of identity of the session. On an account with a second factor the password is no proof: a thief of session
 * and password must not remove the factor.
 */
export async function confirmIdentity(
  factors: Factors,
  actor: SignedIn,
  self: Self,
  proof: BodyOf<Calls['confirm']>,
  checkPassword: (password: string) => Promise<void>,
): Promise<void> {
  const { password, ...shown } = proof
  if (actor.hasFactor) {
    if (password !== undefined) throw invalid('password', 'Use your second factor instead of your password')
    // Another session may have removed the last factor since this request was authenticated.
    await withFactor(factors, self, shown, (write) => renewProof(write, actor), 'challenge_ended')
    return
  }
  if (password === undefined) throw invalid('password', 'Use your password: you have no second factor')
  await checkPassword(password)
  await factors.ctx.tx(actor, (write) => renewProof(write, actor))
}

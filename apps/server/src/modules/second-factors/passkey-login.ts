import { limits, type PasskeyAnswer } from '@keyward/contract'
import { minute } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { problem } from '../../core/problem.ts'
import type { Allowance } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { Holder } from '../sessions/sessions.service.ts'
import type { Take } from './holders.ts'
import { siteOf, toRequestOptions, userHandleOf, verifyAnswer } from './passkeys.ts'
import { type Factors, holderOf, rightPasskeys } from './second-factors.proofs.ts'
import * as repo from './second-factors.repo.ts'

/** Counted by address: a signature cannot be guessed, but checking it takes time. */
const wrongPasskeys: Allowance = { name: 'passkey', max: 30, windowMs: 15 * minute }
const lifetimeMs = limits.challengeMinutes * minute
const contextOf = (kind: Holder['kind']): string => `passkey login:${kind}`

/** A challenge for anyone. It is sealed instead of stored, so that strangers fill no table. */
export function passkeyLoginOptions(ctx: Ctx, kind: Holder['kind']) {
  const until = Buffer.alloc(8)
  until.writeBigUInt64BE(BigInt(ctx.clock.now() + lifetimeMs))
  const challenge = ctx.seal.sealToken(until, contextOf(kind))
  return { challenge, options: { ...toRequestOptions(siteOf(ctx.config), { challenge }) } }
}

/** Checks a passkey that signs in alone, and runs the rest of the sign-in. Every wrong passkey gets the same answer. */
export async function showPasskey<T>(
  { ctx, attempts }: Factors,
  kind: Holder['kind'],
  sent: { challenge: string; credential: PasskeyAnswer; address: string },
  goOn: (holder: Holder, take: Take) => Promise<T>,
): Promise<T> {
  const { challenge, credential, address } = sent
  const opened = ctx.seal.openToken(challenge, contextOf(kind))
  const expiresAt = Number(opened?.readBigUInt64BE() ?? 0)
  if (expiresAt <= ctx.clock.now()) throw problem('challenge_ended')
  await attempts.check(wrongPasskeys, address)
  const passkey = await repo.findPasskey(ctx.db, credential.id)
  const factor = passkey && (await repo.findFactorById(ctx.db, passkey.factor_id))
  const holder = factor && holderOf(factor)
  const isTheirs = holder?.kind === kind && (credential.response.userHandle ?? '') === userHandleOf(holder)
  const expected = { challenge, isUserVerified: true }
  const counter =
    passkey && isTheirs ? await verifyAnswer(siteOf(ctx.config), passkey, credential, expected) : undefined
  if (!holder || counter === undefined) {
    await attempts.count(wrongPasskeys, address)
    throw problem('invalid_code')
  }
  await attempts.count(rightPasskeys, holder.kind, holder.id)
  return goOn(holder, async ({ tx, now }) => {
    const isFirst = await repo.spendChallenge(tx, {
      token_hash: sha256(challenge),
      factor_id: passkey.factor_id,
      created_at: now,
      expires_at: expiresAt,
    })
    if (!isFirst) throw problem('challenge_ended')
    if (!(await repo.takeCounter(tx, passkey.id, counter, now))) throw problem('invalid_code')
  })
}

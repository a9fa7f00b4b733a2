import { type FactorMethod, limits, type PasskeyAnswer, type SecondFactorStep } from '@keyward/contract'
import { hour, minute } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { newChallenge } from '../../core/ids.ts'
import { Problem, problem } from '../../core/problem.ts'
import type { Db, Tx, WriteTransaction } from '../../db/index.ts'
import type { SecondFactorRow } from '../../db/tables.ts'
import type { Allowance, Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { Holder } from '../sessions/sessions.service.ts'
import type { Asked, AskingCall, Self, Take } from './holders.ts'
import { readClientData, siteOf, toRequestOptions, verifyAnswer } from './passkeys.ts'
import { normalizeRecoveryCode } from './recovery-codes.rules.ts'
import * as repo from './second-factors.repo.ts'
import { findStep } from './totp.ts'

/** Wrong codes of a person, over all challenges and addresses. */
const wrongCodes: Allowance = { name: 'second factor', max: 10, windowMs: 15 * minute }

/** Right passkeys of a person: each stores records, and a program answers without anyone typing. */
export const rightPasskeys: Allowance = { name: 'right passkey', max: 1000, windowMs: hour }

export interface Factors {
  ctx: Ctx
  attempts: Attempts
}

/** What a person shows as a second factor; exactly one of them. */
export interface Shown {
  code?: string | undefined
  credential?: PasskeyAnswer | undefined
  recoveryCode?: string | undefined
}

type Purpose = AskingCall | 'add_passkey' | 'confirm'

/** Stores a challenge of a holder and returns its token, which is also that of WebAuthn. */
export async function openChallenge(
  tx: Tx,
  { factorId, purpose, state, now }: { factorId: string; purpose: Purpose; state: object; now: number },
): Promise<string> {
  const token = newChallenge()
  await repo.insertChallenge(tx, {
    token_hash: sha256(token),
    factor_id: factorId,
    purpose,
    state: JSON.stringify(state),
    created_at: now,
    expires_at: now + limits.challengeMinutes * minute,
  })
  return token
}

/**
 * Answers a call with a challenge if its holder has a second factor. `state` is what the call needs to go on once the
 * factor was shown; it must change nothing before.
 */
export async function askForFactor(
  { ctx }: Pick<Factors, 'ctx'>,
  write: WriteTransaction,
  holder: Holder,
  { call, state }: { call: AskingCall; state: object },
): Promise<SecondFactorStep | undefined> {
  const { tx, now } = write
  const factor = await repo.findFactor(tx, holder)
  if (factor?.active !== 1) return undefined
  const challenge = await openChallenge(tx, { factorId: factor.id, purpose: call, state, now })
  const { methods, options } = await offerOf(ctx, tx, factor, challenge)
  write.record(`${subjectOf(holder)}.second_factor_asked`, holder.id, {})
  return { secondFactor: { challenge, methods, options } }
}

/** What a person with this factor may show; `options` are those of a passkey. */
async function offerOf(
  { config }: Pick<Ctx, 'config'>,
  db: Db,
  factor: SecondFactorRow,
  challenge: string,
): Promise<{ methods: FactorMethod[]; options: (Record<string, unknown> & { challenge: string }) | null }> {
  const passkeys = await repo.listPasskeys(db, factor.id)
  const methods: FactorMethod[] = []
  if (factor.totp_sealed !== null) methods.push('totp')
  if (passkeys.length > 0) methods.push('passkey')
  if ((await repo.countRecoveryCodes(db, factor.id)) > 0) methods.push('recovery')
  const options =
    passkeys.length > 0 ? { ...toRequestOptions(siteOf(config), { challenge, passkeys }) } : null
  return { methods, options }
}

/** Finds the call that a challenge belongs to, checks the factor, and runs the rest of the call. */
export async function showFactor<T>(
  factors: Factors,
  kind: Holder['kind'],
  { challenge, address, ...shown }: Shown & { challenge: string; address: string },
  goOn: (asked: Asked) => Promise<T>,
): Promise<T> {
  const { ctx } = factors
  const tokenHash = sha256(challenge)
  const found = await repo.findChallenge(ctx.db, tokenHash, ctx.clock.now())
  const factor =
    found && isCall(found.purpose) ? await repo.findFactorById(ctx.db, found.factor_id) : undefined
  const holder = factor && holderOf(factor)
  if (!found || !factor || holder?.kind !== kind) throw problem('challenge_ended')
  return countingGuesses(factors, holder, async () => {
    const accept = await check(factors, { factor, holder, challenge }, shown)
    return goOn({
      call: found.purpose as AskingCall,
      holder,
      state: JSON.parse(found.state),
      address,
      take: async (write) => {
        if (!(await repo.takeChallenge(write.tx, tokenHash, write.now))) throw problem('challenge_ended')
        await accept(write)
      },
    })
  })
}

const isCall = (purpose: string): purpose is AskingCall =>
  purpose === 'login' || purpose === 'reset' || purpose === 'invitation'

/**
 * Runs a write of a signed-in person that shows a factor, in one transaction with using it. A credential answers the
 * options of `proofOptions`. Throws `missing` without a factor.
 */
export async function withFactor<T>(
  factors: Factors,
  { actor, holder, lock }: Self,
  shown: Shown,
  work: (write: WriteTransaction) => Promise<T>,
  missing: 'not_found' | 'challenge_ended' = 'not_found',
): Promise<T> {
  const { ctx } = factors
  const factor = await repo.findFactor(ctx.db, holder)
  if (factor?.active !== 1) throw problem(missing)
  const challenge = shown.credential && readClientData(shown.credential).challenge
  if (challenge !== undefined) await refuseEnded(ctx, factor, challenge)
  return countingGuesses(factors, holder, async () => {
    const accept = await check(factors, { factor, holder, challenge: challenge ?? '' }, shown)
    return ctx.tx(actor, async (write) => {
      await lock(write)
      if (challenge !== undefined && !(await repo.takeChallenge(write.tx, sha256(challenge), write.now)))
        throw problem('challenge_ended')
      await accept(write)
      return work(write)
    })
  })
}

/** What a signed-in person can show for `withFactor`; undefined without a factor. */
export async function proofOptions(
  { ctx }: Pick<Factors, 'ctx'>,
  { actor, holder }: Pick<Self, 'actor' | 'holder'>,
): Promise<Awaited<ReturnType<typeof offerOf>> | undefined> {
  const factor = await repo.findFactor(ctx.db, holder)
  if (factor?.active !== 1) return undefined
  const challenge = await ctx.tx(actor, ({ tx, now }) =>
    openChallenge(tx, { factorId: factor.id, purpose: 'confirm', state: {}, now }),
  )
  return offerOf(ctx, ctx.db, factor, challenge)
}

async function refuseEnded({ db, clock }: Ctx, factor: SecondFactorRow, challenge: string): Promise<void> {
  const found = await repo.findChallenge(db, sha256(challenge), clock.now())
  if (found?.factor_id !== factor.id || found.purpose !== 'confirm') throw problem('challenge_ended')
}

/**
 * Counts a guess before it is checked, because many at once would all be checked before the first one was counted, and
 * forgets it unless it was wrong.
 */
async function countingGuesses<T>(
  { attempts }: Factors,
  { kind, id }: Holder,
  work: () => Promise<T>,
): Promise<T> {
  await attempts.count(wrongCodes, kind, id)
  let isWrong = false
  try {
    return await work()
  } catch (error) {
    isWrong = error instanceof Problem && error.code === 'invalid_code'
    throw error
  } finally {
    if (!isWrong) await attempts.forget(wrongCodes, kind, id)
  }
}

const wrong = () => problem('invalid_code')

async function check(
  { ctx, attempts }: Factors,
  { factor, holder, challenge }: { factor: SecondFactorRow; holder: Holder; challenge: string },
  { code, credential, recoveryCode }: Shown,
): Promise<Take> {
  if (code !== undefined) {
    const sealed = factor.totp_sealed
    if (sealed === null) throw wrong()
    const step = await findStep(ctx.seal.open(sealed, totpContext(holder)), code, ctx.clock.now())
    if (step === undefined) throw wrong()
    return async ({ tx }) => {
      if (!(await repo.takeStep(tx, factor.id, sealed, step))) throw wrong()
    }
  }
  if (credential !== undefined) {
    const passkey = await repo.findPasskey(ctx.db, credential.id)
    if (passkey?.factor_id !== factor.id) throw wrong()
    const expected = { challenge, isUserVerified: false }
    const counter = await verifyAnswer(siteOf(ctx.config), passkey, credential, expected)
    if (counter === undefined) throw wrong()
    await attempts.count(rightPasskeys, holder.kind, holder.id)
    return async ({ tx, now }) => {
      if (!(await repo.takeCounter(tx, passkey.id, counter, now))) throw wrong()
    }
  }
  const hash = recoveryHash(ctx, holder, recoveryCode ?? '')
  return async (write) => {
    if (!(await repo.takeRecoveryCode(write.tx, factor.id, hash))) throw wrong()
    const left = await repo.countRecoveryCodes(write.tx, factor.id)
    write.record(`${subjectOf(holder)}.recovery_code_used`, holder.id, { left })
  }
}

/** How records name the holder. */
export const subjectOf = ({ kind }: Holder) => (kind === 'account' ? 'owner' : 'reseller')

export const holderOf = ({ account_id, reseller_id }: SecondFactorRow): Holder =>
  account_id === null ? { kind: 'reseller', id: reseller_id ?? '' } : { kind: 'account', id: account_id }

/** Binds a sealed secret to its holder. */
export const totpContext = ({ kind, id }: Holder): string => `totp:${kind}:${id}`

export const recoveryHash = ({ seal }: Pick<Ctx, 'seal'>, { kind, id }: Holder, code: string): string =>
  seal.digest(`recovery:${kind}:${id}:${normalizeRecoveryCode(code)}`)

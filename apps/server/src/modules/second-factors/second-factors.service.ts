import { limits, type NewPasskey, type Passkey } from '@keyward/contract'
import { hour, toIso, toIsoOrNull } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { newId } from '../../core/ids.ts'
import { problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { PasskeyRow, SecondFactorRow } from '../../db/tables.ts'
import type { Allowance } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { Holder } from '../sessions/sessions.service.ts'
import type { Self } from './holders.ts'
import { readClientData, siteOf, toCreationOptions, verifyNewPasskey } from './passkeys.ts'
import { newRecoveryCodes } from './recovery-codes.rules.ts'
import { removeFactors } from './second-factors.access.ts'
import {
  type Factors,
  openChallenge,
  recoveryHash,
  subjectOf,
  totpContext,
  withFactor,
} from './second-factors.proofs.ts'
import * as repo from './second-factors.repo.ts'
import { findStep, newTotpSecret, toTotpUri } from './totp.ts'

/** How long a shown secret waits for its first code. */
const pendingMs = hour
/** Added factors of a person: each stores records. */
const additions: Allowance = { name: 'added factors', max: 100, windowMs: hour }

export async function getFactors(
  { db }: Ctx,
  holder: Holder,
): Promise<{ totp: boolean; passkeys: Passkey[]; recoveryCodes: number }> {
  const factor = await repo.findFactor(db, holder)
  if (!factor) return { totp: false, passkeys: [], recoveryCodes: 0 }
  return {
    totp: factor.totp_sealed !== null,
    passkeys: (await repo.listPasskeys(db, factor.id)).map(toPasskey),
    recoveryCodes: await repo.countRecoveryCodes(db, factor.id),
  }
}

export async function beginTotp(
  ctx: Ctx,
  { actor, holder, lock }: Self,
): Promise<{ secret: string; uri: string }> {
  const secret = await newTotpSecret()
  const sealed = ctx.seal.seal(secret, totpContext(holder))
  const { email } = await ctx.tx(actor, async (write) => {
    const account = await lock(write)
    const factor = await repo.makeFactor(write.tx, holder, write.now)
    refuseSecondTotp(factor)
    const pending = { pending_sealed: sealed, pending_until: write.now + pendingMs }
    await repo.updateFactor(write.tx, factor.id, pending)
    return account
  })
  const { host, origin } = siteOf(ctx.config)
  const issuer = origin === undefined ? 'Keyward' : `Keyward ${host}`
  return { secret, uri: await toTotpUri(secret, { issuer, label: email }) }
}

/** Turns the authenticator app on. The code that proves it signs in nowhere. */
export async function confirmTotp(
  { ctx, attempts }: Factors,
  { actor, holder, lock }: Self,
  code: string,
): Promise<string[]> {
  const pending = await repo.findFactor(ctx.db, holder)
  if (!pending?.pending_sealed || pending.pending_until <= ctx.clock.now()) throw problem('challenge_ended')
  refuseSecondTotp(pending)
  const { pending_sealed: sealed } = pending
  const step = await findStep(ctx.seal.open(sealed, totpContext(holder)), code, ctx.clock.now())
  // The secret was just shown to this session, so guessing its code opens nothing.
  if (step === undefined) throw problem('invalid_code')
  await attempts.count(additions, holder.id)
  const codes = newRecoveryCodes()
  await ctx.tx(actor, async (write) => {
    await lock(write)
    const factor = await repo.lockFactor(write.tx, holder)
    if (factor?.pending_sealed !== sealed) throw problem('challenge_ended')
    await repo.updateFactor(write.tx, factor.id, {
      active: 1,
      totp_sealed: sealed,
      totp_step: step,
      pending_sealed: null,
      pending_until: 0,
    })
    await storeRecoveryCodes(ctx, write, { factor, holder, codes })
    write.record(`${subjectOf(holder)}.totp_added`, holder.id, {})
  })
  return codes
}

function refuseSecondTotp({ totp_sealed }: SecondFactorRow): void {
  if (totp_sealed !== null) throw problem('totp_on')
}

/** Turns the authenticator app off, with one of its codes or a recovery code. */
export async function removeTotp(factors: Factors, self: Self, code: string): Promise<void> {
  const { holder } = self
  const isCode = /^[\d\s-]{6,9}$/.test(code)
  const shown = isCode ? { code } : { recoveryCode: code }
  await withFactor(factors, self, shown, async (write) => {
    const factor = await repo.lockFactor(write.tx, holder)
    if (!factor || factor.totp_sealed === null) throw problem('not_found')
    await repo.updateFactor(write.tx, factor.id, { totp_sealed: null })
    await removeIfLast(write, holder, factor.id)
    write.record(`${subjectOf(holder)}.totp_removed`, holder.id, {})
  })
}

export async function passkeyOptions(ctx: Ctx, { actor, holder, lock }: Self) {
  return ctx.tx(actor, async (write) => {
    const { email } = await lock(write)
    const factor = await repo.makeFactor(write.tx, holder, write.now)
    const passkeys = await repo.listPasskeys(write.tx, factor.id)
    if (passkeys.length >= limits.passkeysMax) throw problem('passkeys_full')
    const challenge = await openChallenge(write.tx, {
      factorId: factor.id,
      purpose: 'add_passkey',
      state: {},
      now: write.now,
    })
    const user = { holder, name: email }
    return { ...toCreationOptions(siteOf(ctx.config), user, { challenge, passkeys }) }
  })
}

/** Adds a passkey. The first factor returns recovery codes: a lost device must not lock anyone out. */
export async function addPasskey(
  { ctx, attempts }: Factors,
  { actor, holder, lock }: Self,
  { name, credential }: { name: string; credential: NewPasskey },
): Promise<{ passkey: Passkey; recoveryCodes: string[] | null }> {
  const { challenge } = readClientData(credential)
  const tokenHash = sha256(challenge)
  const known = await repo.findFactor(ctx.db, holder)
  const asked = await repo.findChallenge(ctx.db, tokenHash, ctx.clock.now())
  if (!known || asked?.factor_id !== known.id || asked.purpose !== 'add_passkey')
    throw problem('challenge_ended')
  const verified = await verifyNewPasskey(siteOf(ctx.config), credential, challenge)
  if (!verified) throw problem('invalid_code')
  await attempts.count(additions, holder.id)
  return ctx.tx(
    actor,
    async (write) => {
      await lock(write)
      const factor = await repo.lockFactor(write.tx, holder)
      if (!factor || !(await repo.takeChallenge(write.tx, tokenHash, write.now)))
        throw problem('challenge_ended')
      const passkeys = await repo.listPasskeys(write.tx, factor.id)
      if (passkeys.length >= limits.passkeysMax) throw problem('passkeys_full')
      const passkey = {
        id: newId('psk'),
        factor_id: factor.id,
        ...verified,
        name,
        created_at: write.now,
        last_used_at: null,
      }
      await repo.insertPasskey(write.tx, passkey)
      await repo.updateFactor(write.tx, factor.id, { active: 1 })
      write.record(`${subjectOf(holder)}.passkey_added`, holder.id, { name })
      const hasCodes = (await repo.countRecoveryCodes(write.tx, factor.id)) > 0
      const codes = hasCodes ? null : newRecoveryCodes()
      if (codes) await storeRecoveryCodes(ctx, write, { factor, holder, codes })
      return { passkey: toPasskey(passkey), recoveryCodes: codes }
    },
    // Another account has a passkey with this id, which no honest authenticator makes twice.
    { onTaken: () => problem('invalid_code') },
  )
}

export async function removePasskey(ctx: Ctx, { actor, holder, lock }: Self, id: string): Promise<void> {
  await ctx.tx(actor, async (write) => {
    await lock(write)
    const factor = await repo.lockFactor(write.tx, holder)
    const removed = factor && (await repo.deletePasskey(write.tx, factor.id, id))
    if (!factor || !removed) throw problem('not_found')
    await removeIfLast(write, holder, factor.id)
    write.record(`${subjectOf(holder)}.passkey_removed`, holder.id, removed)
  })
}

/** Recovery codes without a factor would be a second password. */
async function removeIfLast({ tx }: WriteTransaction, holder: Holder, factorId: string): Promise<void> {
  const factor = await repo.lockFactor(tx, holder)
  const passkeys = await repo.listPasskeys(tx, factorId)
  if (factor?.totp_sealed === null && passkeys.length === 0) await removeFactors(tx, holder)
}

async function storeRecoveryCodes(
  ctx: Ctx,
  { tx }: WriteTransaction,
  { factor, holder, codes }: { factor: SecondFactorRow; holder: Holder; codes: string[] },
): Promise<void> {
  const hashes = codes.map((code) => recoveryHash(ctx, holder, code))
  await repo.replaceRecoveryCodes(tx, factor.id, hashes)
}

const toPasskey = ({ id, name, created_at, last_used_at }: PasskeyRow): Passkey => ({
  _id: id,
  name,
  createdAt: toIso(created_at),
  lastUsedAt: toIsoOrNull(last_used_at),
})

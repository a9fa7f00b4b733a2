import type { SealedRow } from '../../db/key-rotation/reseal.ts'
import type { Module } from '../module.ts'
import { totpContext } from './second-factors.proofs.ts'
import { loseKey } from './second-factors.repo.ts'
import { secondFactorRoutes } from './second-factors.routes.ts'

const contextOf = (_id: string, { account_id, reseller_id }: SealedRow): string =>
  account_id
    ? totpContext({ kind: 'account', id: String(account_id) })
    : totpContext({ kind: 'reseller', id: String(reseller_id ?? '') })

export const secondFactors: Module = {
  tables: {
    second_factors: {
      key: ['id'],
      needs: ['account_id', 'reseller_id'],
      sealed: { totp_sealed: contextOf, pending_sealed: contextOf },
    },
    passkeys: {},
    recovery_codes: {},
    factor_challenges: { key: ['token_hash'], expires: 'expires_at' },
  },
  loseKey,
  routes: secondFactorRoutes,
}

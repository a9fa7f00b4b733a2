import type { Generated } from 'kysely'
import type { Flag } from './flag.ts'

export interface SecondFactorTables {
  second_factors: SecondFactorsTable
  passkeys: PasskeysTable
  recovery_codes: RecoveryCodesTable
  factor_challenges: FactorChallengesTable
}

/** One row for each person or reseller that has begun to add a factor. */
interface SecondFactorsTable {
  id: string
  account_id: string | null
  reseller_id: string | null
  /** Whether it has an authenticator app or a passkey, so that a sign-in needs one. */
  active: Generated<Flag>
  totp_sealed: string | null
  /** The time step of the last accepted code. */
  totp_step: Generated<number>
  /** The secret of an authenticator app that was not confirmed yet. */
  pending_sealed: string | null
  pending_until: Generated<number>
  created_at: number
}

interface PasskeysTable {
  id: string
  factor_id: string
  /** Both in base64url. */
  credential_id: string
  public_key: string
  /** The authenticator's count of signatures; 0 if it counts none. */
  counter: number
  transports: string
  name: string
  created_at: number
  last_used_at: number | null
}

interface RecoveryCodesTable {
  code_hash: string
  factor_id: string
}

interface FactorChallengesTable {
  token_hash: string
  factor_id: string
  purpose: string
  /** What the call that asked for the factor will do, as JSON. */
  state: string
  created_at: number
  expires_at: number
}

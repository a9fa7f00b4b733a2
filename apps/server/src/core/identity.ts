import { type Endpoint, limits } from '@keyward/contract'
import type { ResellerActor, VendorActor } from './actor.ts'
import { minute } from './clock.ts'
import { problem } from './problem.ts'

const validMs = limits.identityMinutes * minute

/** Throws 403 `confirm_identity` unless the person has proved recently who they are. API keys are never asked. */
export function requireProof(
  actor: VendorActor | ResellerActor,
  confirm: Endpoint['confirm'],
  now: number,
): void {
  if (confirm === undefined || actor.kind === 'api_key') return
  const { confirmedAt = Number.NEGATIVE_INFINITY, hasFactor = true } = actor
  if (confirm === 'with_factor' && !hasFactor) return
  // A proof from the future was made before the clock was set back.
  if (Math.abs(now - confirmedAt) >= validMs) throw problem('confirm_identity')
}

import { problem } from '../../../core/problem.ts'
import { toJwk } from '../../../core/signing.ts'
import { listPinnableKeys } from '../../signing-keys/signing-keys.access.ts'
import type { AppFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'

/** Finds an app in any state; programs see an unknown app as disabled. */
export async function getApp({ reads }: Pick<ProgramDeps, 'reads'>, idOrAppId: string): Promise<AppFacts> {
  const app = await reads.app(idOrAppId)
  if (!app) throw problem('appDisabled')
  return app
}

/** The public keys that programs may pin, newest first. */
export async function listKeys({ ctx }: Pick<ProgramDeps, 'ctx'>, { id, signing }: AppFacts) {
  const keys = await listPinnableKeys(ctx.db, id)
  const pinnable = keys.length > 0 ? keys : [{ ...signing, status: 'current' as const }]
  return pinnable.map(({ kid, publicKey, status }) => ({ ...toJwk(kid, publicKey), status }))
}

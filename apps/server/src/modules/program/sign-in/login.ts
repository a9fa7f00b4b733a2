import { normalizeName } from '../../../core/ids.ts'
import { problem } from '../../../core/problem.ts'
import { guardPassword } from '../../../service/attempts.ts'
import type { Machine } from '../../devices/devices.rules.ts'
import { findByUsername } from '../../end-users/end-users.access.ts'
import type { SignedInUser } from '../answers/session-user.ts'
import type { SessionFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { withContext } from '../verdict/refusal.ts'
import { enter, sessionSignIn } from './admit.ts'
import { toDevice } from './device.ts'

interface Login {
  username: string
  password: string
  machine: Machine | undefined
  address: string
}

/** Signs an end user in by username and password. */
export async function login(deps: ProgramDeps, session: SessionFacts, sent: Login): Promise<SignedInUser> {
  const { ctx, attempts } = deps
  const name = normalizeName(sent.username)
  let knownId: string | undefined
  const subject = { account: accountOf(session, name), address: sent.address }
  const client = await guardPassword(attempts, subject, async () => {
    const found = await findByUsername(ctx.db, session.app.id, name)
    knownId = found?.id
    return (await ctx.passwords.verify(found?.password_hash, sent.password)) ? found : undefined
  })
  if (!client) {
    if (knownId === undefined) throw problem('usernameNotFound')
    throw withContext(problem('passMismatch'), { endUserId: knownId })
  }
  const device = await toDevice(deps, session.app, sent)
  const signIn = sessionSignIn('login', session, sent.address)
  return ctx.tx(signIn.actor, (write) => enter(write, signIn, client.id, device))
}

/** The rate limit's key for attempts on an end user's password. */
export const accountOf = ({ app }: SessionFacts, username: string): string => `client:${app.id}:${username}`

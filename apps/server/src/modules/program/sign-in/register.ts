import { normalizeName } from '../../../core/ids.ts'
import { checkEndUserPassword } from '../../../core/passwords/password-policy.ts'
import { problem } from '../../../core/problem.ts'
import type { WriteTransaction } from '../../../db/index.ts'
import type { Machine } from '../../devices/devices.rules.ts'
import { findByUsername } from '../../end-users/end-users.access.ts'
import { toNewUsername } from '../../end-users/end-users.rules.ts'
import type { SignedInUser } from '../checks/session.ts'
import type { SessionFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { sessionSignIn, toDevice } from './admit.ts'
import { findKey } from './key.ts'
import { accountOf } from './login.ts'
import { redeemForNewUser, refuseFirstUse } from './new-user.ts'

interface Registration {
  username: string
  password: string
  licenseKey: string
  machine: Machine | undefined
  email?: string | undefined
  address: string
}

/** Creates an end user with a password, redeems the key and signs the session in, in one transaction. */
export async function register(
  deps: ProgramDeps,
  session: SessionFacts,
  sent: Registration,
): Promise<SignedInUser> {
  const { ctx, attempts } = deps
  const { app } = session
  if ([...sent.username].length < app.usernameMin) throw problem('unTooShort')
  const username = toNewUsername(sent.username)
  await refuseLeakedPassword(deps, session.app, sent.password)
  const name = normalizeName(username)
  if (await findByUsername(ctx.db, app.id, name)) throw usernameTaken()
  const license = await findKey(deps, session, sent)
  const device = await toDevice(deps, app, sent)
  const signIn = sessionSignIn('register', session, sent.address)
  // Before the password is hashed, which takes time; the transaction checks again.
  refuseFirstUse(signIn, license, { device, now: ctx.clock.now() })
  const account = { account: accountOf(session, name), address: sent.address }
  const passwordHash = await ctx.passwords.hash(sent.password, account)
  const user = { username, passwordHash, email: sent.email ?? null, device }
  const create = async (write: WriteTransaction) => {
    const admitted = await redeemForNewUser(write, signIn, license.id, user)
    const signedIn = await signIn.finish(write, admitted, true)
    await attempts.accounts.remember(account, write.tx)
    return signedIn
  }
  return ctx.tx(signIn.actor, create, { onTaken: usernameTaken })
}

const usernameTaken = () => problem('usernameTaken')

export async function refuseLeakedPassword(
  { ctx, leaked }: Pick<ProgramDeps, 'ctx' | 'leaked'>,
  app: { checkPasswords: boolean },
  password: string,
): Promise<void> {
  checkEndUserPassword(ctx, password, app.checkPasswords)
  const isChecked = app.checkPasswords || ctx.config.passwordPolicy === 'strict'
  if (isChecked && (await leaked.has(password))) throw problem('pwLeaked')
}

import { normalizeName } from '../../../core/ids.ts'
import type { Caller } from '../../../core/networks/caller.ts'
import { isImportedHash } from '../../../core/passwords/imported-hashes.ts'
import { Problem, problem } from '../../../core/problem.ts'
import { guardPassword } from '../../../service/attempts.ts'
import type { Machine } from '../../devices/devices.rules.ts'
import { findByUsername } from '../../end-users/end-users.access.ts'
import { updateEndUser } from '../../entitlements/end-user-rows.ts'
import type { SignedInUser } from '../checks/session.ts'
import type { SessionFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { withContext } from '../verdict/refusal.ts'
import { enter, sessionSignIn, toDevice } from './admit.ts'
import { moveNameIn } from './move-in.ts'

interface Login {
  username: string
  password: string
  machine: Machine | undefined
  address: string
  /** As servers did that trimmed what was typed. */
  ignoresSpaces?: boolean
}

/** Signs an end user in by username and password. */
export async function login(
  deps: ProgramDeps,
  session: SessionFacts,
  sent: Login,
  /** Whether an unknown name was looked for at the old provider already. */
  wasAsked = false,
): Promise<SignedInUser> {
  const { ctx, attempts } = deps
  const name = normalizeName(sent.username)
  let knownId: string | undefined
  let matched = sent.password
  const subject = { account: accountOf(session, name), address: sent.address }
  const client = await guardPassword(attempts, subject, async (turn) => {
    const found = await findByUsername(ctx.db, session.app.id, name)
    knownId = found?.id
    // Ends the turn without counting a wrong password.
    if (!found && !wasAsked && (await deps.moves.find(session.app))) throw unknownName
    const matches = (form: string) => ctx.passwords.verify(found?.password_hash, form, turn)
    const bare = sent.password.trim()
    const isImported = found?.password_hash != null && isImportedHash(found.password_hash)
    const hasSpaces = bare !== sent.password && bare !== ''
    if (await matches(sent.password)) {
      // Our own hash must not contain a space that was typed once by mistake.
      if (isImported && hasSpaces && (await matches(bare))) matched = bare
      return found
    }
    return sent.ignoresSpaces && hasSpaces && !isImported && (await matches(bare)) ? found : undefined
  }).catch((error: unknown): typeof unknownName => {
    if (error !== unknownName) throw error
    return unknownName
  })
  if (client === unknownName) {
    await moveNameIn(deps, session, sent)
    return login(deps, session, sent, true)
  }
  if (!client) {
    if (knownId === undefined) throw problem('usernameNotFound')
    throw withContext(problem('passMismatch'), { endUserId: knownId })
  }
  const device = await toDevice(deps, session.app, sent)
  const passwordHash = client.password_hash
  const ownHash = await hashAgain(deps, { passwordHash, password: matched }, subject)
  const signIn = { ...sessionSignIn('login', session, sent.address), passwordHash }
  const signedIn = ctx.tx(signIn.actor, async (write) => {
    const user = await enter(write, signIn, client.id, device)
    if (ownHash !== undefined)
      await updateEndUser(write.tx, session.app, client.id, { password_hash: ownHash })
    return user
  })
  if (passwordHash === null || !isImportedHash(passwordHash)) return signedIn
  return signedIn.catch((error) => {
    // Another sign-in has stored our own hash meanwhile, or someone another password.
    if (error instanceof Problem && error.code === 'passMismatch') return login(deps, session, sent)
    throw error
  })
}

/** Our own hash of a password that another system hashed; undefined while the server has no time for it. */
async function hashAgain(
  { ctx }: ProgramDeps,
  { passwordHash, password }: { passwordHash: string | null; password: string },
  caller: Caller,
): Promise<string | undefined> {
  if (passwordHash === null || !isImportedHash(passwordHash) || ctx.passwords.isBusy) return undefined
  return ctx.passwords.hash(password, caller)
}

const unknownName: unique symbol = Symbol('unknown name')

/** The rate limit's key for attempts on an end user's password. */
export const accountOf = ({ app }: { app: { id: string } }, username: string): string =>
  `client:${app.id}:${username}`

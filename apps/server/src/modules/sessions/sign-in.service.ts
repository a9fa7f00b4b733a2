import { invalid, problem } from '../../core/problem.ts'
import { type Attempts, guardPassword, rightPasswords } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'

interface Credentials {
  /** Names the account for the limits on guesses, whether it exists or not. */
  account: string
  address: string
  password: string
}

/**
 * Finds an account and checks its password; throws the same `invalid_credentials` for a wrong password and an unknown
 * account. `strongerHash` replaces a stored hash whose parameters are outdated.
 */
export async function checkCredentials<Row extends { password_hash: string }>(
  { passwords }: Pick<Ctx, 'passwords'>,
  attempts: Attempts,
  { account, address, password }: Credentials,
  find: () => Promise<Row | undefined>,
): Promise<{ row: Row; strongerHash: string | undefined }> {
  const row = await guardPassword(attempts, { account, address }, async (turn) => {
    const found = await find()
    return (await passwords.verify(found?.password_hash, password, turn)) ? found : undefined
  })
  if (!row) throw problem('invalid_credentials')
  await attempts.count(rightPasswords, account)
  const strongerHash = passwords.isOutdated(row.password_hash)
    ? await passwords.hash(password, { account, address, isKnown: true })
    : undefined
  return { row, strongerHash }
}

/** Checks the password of an account that is signed in. Wrong ones count like those of sign-ins. */
export async function checkOwnPassword(
  { passwords }: Pick<Ctx, 'passwords'>,
  attempts: Attempts,
  { password, ...subject }: Credentials,
  own: { id: string; passwordHash: string; path: string },
): Promise<void> {
  const matches = await guardPassword(attempts, subject, async (turn) =>
    (await passwords.verify(own.passwordHash, password, turn)) ? true : undefined,
  )
  if (!matches) throw invalid(own.path, 'The password is not correct')
  await attempts.count(rightPasswords, own.id)
}

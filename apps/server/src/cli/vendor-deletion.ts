import { createInterface } from 'node:readline/promises'
import { systemClock } from '../core/clock.ts'
import { normalizeEmail } from '../core/ids.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Database } from '../db/index.ts'
import { deleteVendor, findVendor } from '../modules/platform/vendor-deletion.operator.ts'
import type { Answer } from './owner.ts'
import { noOwner } from './vendor.ts'

/** Deletes a vendor account once the operator has typed its address, or with `--yes`. */
export const parseDelete =
  (typed: string, isSure: boolean, answer: Answer) =>
  async (database: Database): Promise<void> => {
    const found = await findVendor(database, typed)
    if (!found) throw noOwner(typed)
    if (!isSure && !(await confirms(typed, found.apps))) throw new OperatorError('Nothing was deleted.')
    const { modules } = await import('../modules/index.ts')
    const done = await deleteVendor(database, modules, systemClock, typed)
    if (!done) throw noOwner(typed)
    const { email, ownerId, person } = done
    const kept = person ? '' : '; the person stays, as a member of another vendor'
    answer({ email, owner: ownerId, deleted: true, person }, `${email}: deleted${kept}\n`)
  }

/** The question goes to standard error: the output is the result alone. */
async function confirms(email: string, apps: number): Promise<boolean> {
  const lines = createInterface({ input: process.stdin })
  process.stderr.write(
    `This deletes ${email} for ever, with ${apps} apps and their licenses, end users, resellers and orders.\nType the address to go on: `,
  )
  try {
    for await (const line of lines) return normalizeEmail(line) === normalizeEmail(email)
    return false
  } finally {
    lines.close()
    process.stdin.unref?.()
  }
}

// ADR 97: what running servers and a rotation of the secret key have to know of each other.
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { second } from '../../core/clock.ts'
import type { SealRing } from '../../core/crypto.ts'
import { OperatorError } from '../../core/operator-error.ts'
import type { Database } from '../engine.ts'
import { putMeta } from '../meta.ts'
import { askedName, readKeyMeta, SecretKeyError } from '../secret-key.ts'
import { transact } from '../transact.ts'

const lookEveryMs = second
const answersMs = 4 * second
/** No fingerprint begins so. */
const hostPrefix = 'host '

interface Watched {
  database: Pick<Database, 'db'>
  seal: SealRing
  /** Called once the database is sealed with a key that this server does not hold: it must not write any more. */
  onStranger: (error: Error) => void
  /** Called for the first failure in a row. */
  onError: (error: unknown) => void
}

/** Lets a running server seal with the key that the database names. Returns a function that ends this. */
export function watchKeys({ database, seal, onStranger, onError }: Watched): () => Promise<void> {
  let running: Promise<void> | undefined
  let hasFailed = false
  const look = async () => {
    const { fingerprint, asked } = await readKeyMeta(database)
    if (fingerprint !== undefined && !seal.use(fingerprint)) {
      clearInterval(timer)
      onStranger(
        new SecretKeyError(
          'The secret key was replaced, and this server does not have the new one: it stops. Start it with the new SECRET_KEY.',
        ),
      )
      return
    }
    for (const { name, value } of asked)
      if (!value.startsWith(hostPrefix) && !seal.has(value))
        await transact(database.db, (tx) =>
          tx
            .updateTable('meta')
            .set({ value: hostPrefix + hostname() })
            .where('name', '=', name)
            .execute(),
        )
  }
  const timer = setInterval(() => {
    running ??= look()
      .then(
        () => {
          hasFailed = false
        },
        (error: unknown) => {
          if (!hasFailed) onError(error)
          hasFailed = true
        },
      )
      .finally(() => {
        running = undefined
      })
  }, lookEveryMs).unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}

/** The host of a running server that lacks the key of a fingerprint; undefined if none answers. */
export async function findServerWithout(
  { db }: Pick<Database, 'db'>,
  fingerprint: string,
): Promise<string | undefined> {
  const name = askedName + randomBytes(8).toString('hex')
  await transact(db, (tx) => putMeta(tx, name, fingerprint))
  await pause(answersMs)
  const value = await transact(db, async (tx) => {
    const [row] = await tx.deleteFrom('meta').where('name', '=', name).returning('value').execute()
    return row?.value
  })
  if (value === undefined) throw new OperatorError('Another keyward keys has ended meanwhile: repeat.')
  return value.startsWith(hostPrefix) ? value.slice(hostPrefix.length) : undefined
}

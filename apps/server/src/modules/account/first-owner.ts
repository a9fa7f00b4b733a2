import { day, minute } from '../../core/clock.ts'
import { sha256 } from '../../core/crypto.ts'
import { newToken } from '../../core/ids.ts'
import { type Database, type Db, type Tx, transactAsOperator } from '../../db/index.ts'
import { lockMeta } from '../../db/locked-meta.ts'
import { putMeta, readMeta } from '../../db/meta.ts'
import { hasOwners } from '../owners/owners.service.ts'

const name = 'first-owner-links'
const livesMs = day
/** A start replaces the links of earlier ones, but not those of nodes that start at the same time. */
const keptMs = 10 * minute
const most = 20

/** Only the hash of a link is stored. */
interface Link {
  hash: string
  madeAt: number
}

/**
 * Makes the token of a link with which the first owner registers although registration is closed; undefined once the server has
 * an owner.
 */
export async function makeFirstOwnerLink(
  { db }: Pick<Database, 'db'>,
  now: number,
): Promise<{ token: string; until: number } | undefined> {
  if (await hasOwners(db)) return undefined
  const token = newToken('kwf')
  const isMade = await transactAsOperator(db, { ownerId: null, now }, async ({ tx }) => {
    const links = toLinks(await lockMeta(tx, name, '[]'))
    if (await hasOwners(tx)) return false
    const ofOthers = links.filter(({ madeAt }) => madeAt > now - keptMs && madeAt <= now)
    await putMeta(tx, name, JSON.stringify([...ofOthers, { hash: sha256(token), madeAt: now }].slice(-most)))
    return true
  })
  return isMade ? { token, until: now + livesMs } : undefined
}

/** Whether the token is that of a link that works. */
export const isFirstOwnerLink = async (db: Db, token: string, now: number): Promise<boolean> =>
  works(toLinks((await readMeta(db, name)) ?? '[]'), token, now) && !(await hasOwners(db))

/** Uses a link: false if another caller has registered meanwhile, or it ended. All other links end too. */
export async function takeFirstOwnerLink(tx: Tx, token: string, now: number): Promise<boolean> {
  const links = toLinks(await lockMeta(tx, name, '[]'))
  if (!works(links, token, now) || (await hasOwners(tx))) return false
  await putMeta(tx, name, '[]')
  return true
}

const toLinks = (stored: string): Link[] => JSON.parse(stored)

const works = (links: readonly Link[], token: string, now: number): boolean =>
  links.some(({ hash, madeAt }) => hash === sha256(token) && now < madeAt + livesMs)

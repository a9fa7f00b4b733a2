import { sha256 } from '../../core/crypto.ts'
import { normalizeName, toFolded, toTyped } from '../../core/ids.ts'
import { type Db, prepared, type Tx } from '../../db/index.ts'

// Names and keys that an app has had and that are deleted or changed now. An app that takes over end users from an old
// provider never asks for them: a deletion would be undone by the next sign-in. Only digests are kept.

interface OfApp {
  app_id: string
}
type Key = OfApp & { key_normalized: string }
type Name = OfApp & { username_normalized: string }

const digestOf = (kind: 'key' | 'name' | 'spelling', appId: string, text: string): string =>
  sha256(`${kind}\n${appId}\n${text}`).slice(0, 32)

const digestOfKey = ({ app_id, key_normalized }: Key) => digestOf('key', app_id, toTyped(key_normalized))
const digestOfName = ({ app_id, username_normalized }: Name) => digestOf('name', app_id, username_normalized)

/**
 * A name as servers compare it that an app moves from: there, all its spellings open one account, and each would become
 * an end user of its own here.
 */
export const toPlainName = (name: string): string => toFolded(normalizeName(name))

const digestOfSpelling = (appId: string, name: string) => digestOf('spelling', appId, toPlainName(name))

/** Claims all spellings of a name for the end user that the transaction takes over; fails if one was taken over before. */
export const claimSpellings = (tx: Tx, appId: string, name: string): Promise<unknown> =>
  tx
    .insertInto('former_names')
    .values({ app_id: appId, digest: digestOfSpelling(appId, name) })
    .execute()

/** Remembers imported names with accents: without them, they would not be found by another spelling. */
export function rememberSpellings(tx: Tx, names: readonly Name[]): Promise<void> {
  const accented = names.filter(({ username_normalized: name }) => toPlainName(name) !== name)
  return remember(tx, accented, (name) => digestOfSpelling(name.app_id, name.username_normalized))
}

const insertedAtOnce = 500

/** Remembers keys that the transaction deletes. */
export const rememberKeys = (tx: Tx, keys: readonly Key[]): Promise<void> => remember(tx, keys, digestOfKey)

/** Remembers names that the transaction deletes or changes. */
export const rememberNames = (tx: Tx, names: readonly Name[]): Promise<void> =>
  remember(tx, names, digestOfName)

async function remember<T extends OfApp>(tx: Tx, some: readonly T[], digestOf: (one: T) => string) {
  const rows = some.map((one) => ({ app_id: one.app_id, digest: digestOf(one) }))
  // In one order, so that transactions wait for each other instead of deadlocking.
  const sorted = rows.sort((one, other) => (one.digest < other.digest ? -1 : 1))
  for (let at = 0; at < sorted.length; at += insertedAtOnce) {
    const slice = sorted.slice(at, at + insertedAtOnce)
    await prepared.insert(tx, 'former_names', slice, 'app_id', 'digest').later()
  }
}

/** Whether an app that the caller has checked had this text, as it is compared, as a key or a name of any spelling. */
export async function wasUsed(
  db: Db,
  appId: string,
  { key, name }: { key: string; name: string },
): Promise<boolean> {
  const digests = [
    digestOfKey({ app_id: appId, key_normalized: key }),
    digestOfName({ app_id: appId, username_normalized: name }),
    digestOfName({ app_id: appId, username_normalized: toPlainName(name) }),
    digestOfSpelling(appId, name),
  ]
  const found = await db
    .selectFrom('former_names')
    .select('digest')
    .where('app_id', '=', appId)
    .where('digest', 'in', digests)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

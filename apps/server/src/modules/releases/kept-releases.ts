import type { Artifact } from '@keyward/contract'
import { sql } from 'kysely'
import type { Database, Db } from '../../db/index.ts'
import { type Catalog, noReleases, toCatalog } from './catalog.rules.ts'
import { toArtifacts, toSecurity } from './releases.view.ts'

interface Kept<T> {
  version: number
  weight: number
  value: T | Promise<T>
}

interface Options<T> {
  read(appId: string): Promise<T>
  weigh(value: T): number
  /** What all apps together may weigh. */
  most: number
  /** Of an app without releases. */
  none: T
}

/**
 * Keeps what is read of the releases of apps in memory, by the version that every read of an app returns. A change
 * increments it in its transaction, so all nodes use the new list from the next check on.
 */
export class KeptReleases<T> {
  readonly #options: Options<T>
  readonly #kept = new Map<string, Kept<T>>()
  #weight = 0

  constructor(options: Options<T>) {
    this.#options = options
  }

  get({ id, releasesVersion: version }: { id: string; releasesVersion: number }): T | Promise<T> {
    if (version === 0) return this.#options.none
    const kept = this.#kept.get(id)
    // Another call may have read a newer version already.
    return kept && kept.version >= version ? kept.value : this.#load(id, version)
  }

  #load(appId: string, version: number): Promise<T> {
    const reading = this.#options.read(appId)
    const kept: Kept<T> = { version, weight: 0, value: reading }
    this.#drop(appId)
    this.#kept.set(appId, kept)
    reading.then(
      (value) => {
        if (this.#kept.get(appId) !== kept) return
        kept.value = value
        kept.weight = this.#options.weigh(value)
        this.#weight += kept.weight
        for (const oldest of this.#kept.keys()) {
          if (this.#weight <= this.#options.most) return
          if (oldest !== appId) this.#drop(oldest)
        }
      },
      // A failed read must not be kept: the next call tries again.
      () => {
        if (this.#kept.get(appId) === kept) this.#drop(appId)
      },
    )
    return reading
  }

  #drop(appId: string): void {
    this.#weight -= this.#kept.get(appId)?.weight ?? 0
    this.#kept.delete(appId)
  }
}

type Lists = Pick<Database, 'lists'>

/** What a release without a fix has at most: its link, its numbers. */
const charsOfRelease = 600

/** The releases of apps without notes and artifacts, which few calls need. Checks wait for them, so no list is before them. */
export const keepCatalogs = ({ db }: Pick<Database, 'db'>): KeptReleases<Catalog> =>
  new KeptReleases({
    read: (appId) => readCatalog(db, appId),
    weigh: ({ named, fixes }) =>
      fixes.reduce(
        (sum, { security }) => sum + JSON.stringify(security).length / charsOfRelease,
        1 + named.size,
      ),
    most: 200_000,
    none: noReleases,
  })

export async function readCatalog(db: Db, appId: string): Promise<Catalog> {
  const rows = await db
    .selectFrom('releases')
    .select(['id', 'version', 'released_at', 'channel', 'link', 'updates_from', 'security', 'withdrawn_at'])
    .select(sql<number>`case when octet_length(artifacts) > 2 then 1 else 0 end`.as('has_artifacts'))
    .where('app_id', '=', appId)
    .orderBy('released_at', 'desc')
    .orderBy('seq', 'desc')
    .execute()
  const removed = await db.selectFrom('removed_fixes').select('version').where('app_id', '=', appId).execute()
  const releases = rows.map((row) => ({
    id: row.id,
    version: row.version,
    releasedAt: row.released_at,
    channel: row.channel,
    link: row.link,
    updatesFrom: row.updates_from,
    security: toSecurity(row.security),
    isWithdrawn: row.withdrawn_at !== null,
    hasArtifacts: row.has_artifacts === 1,
  }))
  return toCatalog(
    releases,
    removed.map(({ version }) => version),
  )
}

/** Notes and artifacts of the releases of an app, by their ids. */
export type ReleaseFiles = ReadonlyMap<
  string,
  { build: string | null; notes: string | null; artifacts: readonly Artifact[]; bytes: number }
>

/** Headers and some programs take the address of a file only without characters such as `ö`. */
const withPlainUrl = (artifact: Artifact): Artifact =>
  /^[!-~]*$/.test(artifact.url) ? artifact : { ...artifact, url: new URL(artifact.url).href }

const filesBytesKept = 64 * 1024 * 1024

export const keepFiles = ({ lists }: Lists): KeptReleases<ReleaseFiles> =>
  new KeptReleases<ReleaseFiles>({
    read: async (appId) => {
      const rows = await lists
        .selectFrom('releases')
        .select(['id', 'build', 'notes', 'artifacts', 'bytes'])
        .where('app_id', '=', appId)
        .execute()
      return new Map(
        rows.map(({ id, artifacts, ...more }) => [
          id,
          { ...more, artifacts: toArtifacts(artifacts).map(withPlainUrl) },
        ]),
      )
    },
    weigh: (files) => [...files.values()].reduce((sum, { bytes }) => sum + 2 * bytes, 1000 * files.size),
    most: filesBytesKept,
    none: new Map(),
  })

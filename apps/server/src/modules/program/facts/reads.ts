import { lookupTags } from '@keyward/contract'
import type { Clock } from '../../../core/clock.ts'
import type { TypedKey } from '../../../core/ids.ts'
import { after, type Soon } from '../../../core/queues/after.ts'
import type { CommitCount, Database, PreparedRead } from '../../../db/index.ts'
import { seqOfKey } from '../../../db/typed-keys.ts'
import type { Catalog } from '../../releases/catalog.rules.ts'
import { type KeptReleases, keepCatalogs } from '../../releases/kept-releases.ts'
import type { AppFacts, LicenseFacts, SessionFacts } from './facts.ts'
import {
  type AppColumns,
  type LicenseColumns,
  type SessionColumns,
  toAppFacts,
  toLicenseFacts,
  toSessionFacts,
} from './rows.ts'

const appColumns = `a.id as app_row, a.owner_id, a.app_id as app_public_id, a.name as app_name,
  a.version as app_version, a.secret_hash, a.secret_version, a.paused as app_paused, a.hwid_lock as app_hwid_lock,
  a.require_hwid, a.require_activation, a.device_tolerance, a.device_self_service, a.device_cooldown_hours,
  a.messages, a.username_min, a.block_vpn, a.check_hash, a.check_passwords, a.test_licenses, a.buy_url, a.type_links,
  a.block_version, a.variables_revision as app_variables_revision,
  a.minimum_version, a.public_updates, a.releases_version,
  a.signing_kid, a.signing_public, a.signing_sealed, a.signing_version,
  o.pause_applications as platform_paused, o.hwid_lock as platform_hwid_lock`

/** What a read includes of its app. */
interface AppRead {
  columns: string
  owner: string
}
const wholeApp: AppRead = { columns: appColumns, owner: 'join owners o on o.id = a.owner_id' }
const onlyAppId: AppRead = { columns: 'a.id as app_row', owner: '' }

const clientColumns = `c.id, c.username, c.email, c.banned, c.ban_reason, c.paused_at, c.left_ms, c.added_rights,
  c.expires_at, c.grace_days, c.created_at, c.last_login_at, c.device_count, c.variables_revision,
  l.id as key_id, l.banned as key_banned, l.ban_reason as key_ban_reason, l.test as key_test, l.term as key_term,
  l.devices as key_devices, l.seats as key_seats, l.seat_timeout_seconds as key_seat_timeout,
  l.features as key_features, l.updates_for_days as key_updates_for_days, l.updates_until as key_updates_until,
  l.started_at as key_started_at, l.created_at as key_created_at,
  d.id as device_id, d.last_seen_at as device_seen_at,
  d.version as device_version, d.told_release,
  d.part_machine, d.part_board, d.part_disk, d.part_network`

const appBy = (column: AppName) => `select ${appColumns}
  from apps a ${wholeApp.owner} where a.${column} = ?`

/** Without `app` it returns the app's id only. */
const sessionByToken = (
  app: AppRead | undefined,
) => `select ${app?.columns ?? 's.app_id as app_row'}, ${clientColumns}, s.id as session_id,
    s.expires_at as session_expires_at, s.hwid_hash as session_hwid_hash, s.locale as session_locale,
    s.secret_version as session_secret_version, s.version as session_version,
    case when l.seats is null and c.added_rights is null then null else (
      select e.until from seats e where e.session_id = s.id
    ) end as seat_until
  from client_sessions s ${app ? `join apps a on a.id = s.app_id ${app.owner}` : ''}
  left join clients c on c.id = s.client_id left join licenses l on l.id = c.license_id
  left join devices d on d.client_id = s.client_id and d.hwid_hash = s.hwid_hash and d.freed_until is null
  where s.token_hash = ?`

/** Reads a column of the end user's first license; keys that `upgrade` added are not the first. */
const firstLicense = (
  column: 'devices' | 'seats',
) => `case when c.id is null or c.license_id = l.id then l.${column}
    else (select f.${column} from licenses f where f.id = c.license_id) end`

/** The time that a pause holds of the license; an added key has an end of its own. */
const ofFirst = 'case when c.license_id = l.id then c.left_ms end'

const licenseBy = (
  column: AppName,
  app: AppRead,
) => `select ${app.columns}, l.id, l.key, l.used, l.banned, l.ban_reason, l.test, l.expires_at, l.grace_days, l.term,
    l.started_at, c.username, c.id as client_id, c.banned as client_banned, c.ban_reason as client_ban_reason,
    c.paused_at, ${ofFirst} as left_ms, c.added_rights, c.device_count,
    ${firstLicense('devices')} as devices, ${firstLicense('seats')} as seats,
    d.id as device_id, d.part_machine, d.part_board, d.part_disk, d.part_network,
    t.count as misses, t.window_ends as misses_end
  from apps a ${app.owner}
  left join licenses l on l.seq = ${seqOfKey('a.id')} left join clients c on c.id = l.client_id
  left join devices d on d.client_id = l.client_id and d.hwid_hash = ? and d.freed_until is null
  left join attempts t on t.key = a.id || ?
  where a.${column} = ?`

/** How many language tags the texts of an app are read for; a longer tag skips some in between. */
const lookupsMax = 4
const textsOf = `select ${Array.from(
  { length: lookupsMax },
  (_, at) => `(select messages from app_messages where app_id = ? and locale = ?) as texts${at}`,
).join(', ')}`

const use = <Facts>(
  read: ReturnType<PreparedRead>,
  toFacts: (row: object) => Soon<Facts>,
): Soon<Facts | undefined> => after(read, (row) => row && toFacts(row))

/**
 * Reads the facts of the most frequent calls, each with one prepared statement. On SQLite through the read-only
 * connection, which sees committed data only.
 */
export class ProgramReads {
  readonly #clock: Clock
  readonly #app: Record<AppName, PreparedRead>
  readonly #session: PreparedRead
  readonly #license: Record<AppName, PreparedRead>
  readonly #texts: PreparedRead
  readonly #catalogs: KeptReleases<Catalog>
  /** Otherwise each read includes its app, because a second query costs a round trip. */
  readonly #kept: AppsOfLastCommit | undefined

  constructor(database: Database, clock: Clock) {
    const { engine } = database
    this.#clock = clock
    const read = (name: string, text: string): PreparedRead => engine.prepareRead(name, text)
    this.#catalogs = keepCatalogs(database)
    this.#kept = engine.commits && new AppsOfLastCommit(engine.commits)
    const app = this.#kept ? onlyAppId : wholeApp
    this.#app = { id: read('app-id', appBy('id')), app_id: read('app-app_id', appBy('app_id')) }
    this.#session = read('session', sessionByToken(this.#kept ? undefined : wholeApp))
    this.#license = {
      id: read('license-id', licenseBy('id', app)),
      app_id: read('license-app_id', licenseBy('app_id', app)),
    }
    this.#texts = read('texts', textsOf)
  }

  app(idOrAppId: string): Soon<AppFacts | undefined> {
    if (this.#kept) {
      const app = this.#kept.get(idOrAppId)
      return app && this.#withReleases(app, app)
    }
    return use(this.#app[nameOf(idOrAppId)](idOrAppId), (row) => {
      const app = toAppFacts(row as AppColumns)
      return this.#withReleases(app, app)
    })
  }

  session(tokenHash: string): Soon<SessionFacts | undefined> {
    return use(this.#session(tokenHash), (row) => {
      const app = this.#appOf(row as AppColumns)
      return app && this.#withReleases(app, toSessionFacts(row as SessionColumns, app, this.#clock.now()))
    })
  }

  #appOf(row: AppColumns): AppFacts | undefined {
    return this.#kept ? this.#kept.get(row.app_row) : toAppFacts(row)
  }

  /** Facts once the releases of their app are known. */
  #withReleases<Facts>(app: AppFacts, facts: Facts): Soon<Facts> {
    if (app.releasesVersion === 0) return facts
    return after(this.#catalogs.get(app), (releases) => {
      app.releases = releases
      return facts
    })
  }

  /** `missesOf` is the part after the app's id in the key of the address's rate limit. */
  license(
    idOrAppId: string,
    { exact, typed }: TypedKey,
    hwidHash: string,
    missesOf: string,
  ): Soon<LicenseFacts | undefined> {
    return use(this.#license[nameOf(idOrAppId)](exact, typed, hwidHash, missesOf, idOrAppId), (row) => {
      const app = this.#appOf(row as AppColumns)
      return app && this.#withReleases(app, toLicenseFacts(row as LicenseColumns, app, this.#clock.now()))
    })
  }

  /** The texts of an app in a language, the most specific first, each as JSON; the default ones come last. */
  async texts(app: AppFacts, locale: string | undefined): Promise<string[]> {
    if (locale === undefined) return [app.messages]
    const tags = lookupTags(locale)
    const looked = [tags[0] as string, ...tags.slice(1).slice(1 - lookupsMax)]
    const places = Array.from({ length: lookupsMax }, (_, at) => [app.id, looked[at] ?? ''])
    const row = (await this.#texts(...places.flat())) as Record<string, string | null>
    const found = looked.map((_, at) => row[`texts${at}`])
    return [...found.filter((texts) => typeof texts === 'string'), app.messages]
  }
}

type AppName = 'id' | 'app_id'

const nameOf = (idOrAppId: string): AppName => (idOrAppId.startsWith('app_') ? 'id' : 'app_id')

const appsKept = 10_000

/** The facts about apps, kept until the next commit. */
class AppsOfLastCommit {
  readonly #commitCount: CommitCount
  readonly #reads: Record<AppName, (name: string) => object | undefined>
  readonly #apps = new Map<string, AppFacts>()
  #commits: number | undefined

  constructor(commits: CommitCount) {
    this.#commitCount = commits
    this.#reads = { id: commits.prepareRow(appBy('id')), app_id: commits.prepareRow(appBy('app_id')) }
  }

  get(idOrAppId: string): AppFacts | undefined {
    const commits = this.#commitCount.countCommits()
    if (commits !== this.#commits || this.#apps.size >= appsKept) this.#apps.clear()
    this.#commits = commits
    const kept = this.#apps.get(idOrAppId)
    if (kept) return kept
    const row = this.#reads[nameOf(idOrAppId)](idOrAppId)
    if (!row) return undefined
    const app = toAppFacts(row as AppColumns)
    this.#apps.set(idOrAppId, app)
    return app
  }
}

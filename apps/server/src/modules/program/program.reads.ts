import type { Database } from '../../db/open.ts'

/** What a check needs to know of an app and its owner; `messages` is JSON. */
export interface AppFacts {
  app_row: string
  owner_id: string
  app_public_id: string
  app_name: string
  app_version: string
  secret_hash: string
  secret_version: number
  app_paused: 0 | 1
  app_hwid_lock: 0 | 1
  messages: string
  signing_kid: string
  signing_public: string
  signing_sealed: string
  platform_paused: 0 | 1
  platform_hwid_lock: 0 | 1
}

/** An end user with its first license's ban; every field is null when there is none. */
export interface ClientFacts {
  client_id: string | null
  username: string | null
  client_email: string | null
  client_banned: 0 | 1 | null
  client_expires_at: number | null
  client_created_at: number | null
  last_login_at: number | null
  client_hwid_hash: string | null
  key_banned: 0 | 1 | null
}

export interface SessionFacts extends AppFacts, ClientFacts {
  session_id: string
  session_expires_at: number
  session_hwid_hash: string | null
  session_secret_version: number
}

export interface LicenseFacts extends AppFacts {
  license_id: string | null
  license_key: string | null
  license_used: 0 | 1 | null
  license_banned: 0 | 1 | null
  license_expires_at: number | null
  license_username: string | null
  license_client_banned: 0 | 1 | null
  license_client_hwid_hash: string | null
  /** Unknown keys of this app from the visitor's address, counted until `misses_end`. */
  misses: number | null
  misses_end: number | null
}

const appColumns = `a.id as app_row, a.owner_id, a.app_id as app_public_id, a.name as app_name,
  a.version as app_version, a.secret_hash, a.secret_version, a.paused as app_paused, a.hwid_lock as app_hwid_lock, a.messages,
  a.signing_kid, a.signing_public, a.signing_sealed,
  o.pause_applications as platform_paused, o.hwid_lock as platform_hwid_lock`

const clientColumns = `c.id as client_id, c.username, c.email as client_email, c.banned as client_banned,
  c.expires_at as client_expires_at, c.created_at as client_created_at, c.last_login_at,
  c.hwid_hash as client_hwid_hash, l.banned as key_banned`

const appBy = (column: AppName) => `select ${appColumns}
  from apps a join owners o on o.id = a.owner_id where a.${column} = ?`

const sessionByToken = `select ${appColumns}, ${clientColumns}, s.id as session_id,
    s.expires_at as session_expires_at, s.hwid_hash as session_hwid_hash,
    s.secret_version as session_secret_version
  from client_sessions s join apps a on a.id = s.app_id join owners o on o.id = a.owner_id
  left join clients c on c.id = s.client_id left join licenses l on l.id = c.license_id
  where s.token_hash = ?`

const licenseBy = (column: AppName) => `select ${appColumns}, l.id as license_id, l.key as license_key,
    l.used as license_used, l.banned as license_banned, l.expires_at as license_expires_at,
    c.username as license_username, c.banned as license_client_banned, c.hwid_hash as license_client_hwid_hash,
    t.count as misses, t.window_ends as misses_end
  from apps a join owners o on o.id = a.owner_id
  left join licenses l on l.app_id = a.id and l.key_normalized = ? left join clients c on c.id = l.client_id
  left join attempts t on t.key = a.id || ?
  where a.${column} = ?`

/** A read that is prepared once; undefined when no row is found. */
type Read = (...values: string[]) => Promise<unknown>

/**
 * The reads of the calls that programs make all the time: one prepared statement each, on SQLite on the
 * connection that sees only what is committed.
 */
export class ProgramReads {
  readonly #app: Record<AppName, Read>
  readonly #session: Read
  readonly #license: Record<AppName, Read>

  constructor(database: Database) {
    const read = database.dialect === 'sqlite' ? sqliteRead(database) : postgresRead(database)
    this.#app = { id: read('app-id', appBy('id')), app_id: read('app-app_id', appBy('app_id')) }
    this.#session = read('session', sessionByToken)
    this.#license = {
      id: read('license-id', licenseBy('id')),
      app_id: read('license-app_id', licenseBy('app_id')),
    }
  }

  app(idOrAppId: string): Promise<AppFacts | undefined> {
    return this.#app[nameOf(idOrAppId)](idOrAppId) as Promise<AppFacts | undefined>
  }

  session(tokenHash: string): Promise<SessionFacts | undefined> {
    return this.#session(tokenHash) as Promise<SessionFacts | undefined>
  }

  /** `missesOf` is what follows the app's id in the key of the visitor's misses. */
  license(idOrAppId: string, keyNormalized: string, missesOf: string): Promise<LicenseFacts | undefined> {
    const read = this.#license[nameOf(idOrAppId)]
    return read(keyNormalized, missesOf, idOrAppId) as Promise<LicenseFacts | undefined>
  }
}

type AppName = 'id' | 'app_id'

const nameOf = (idOrAppId: string): AppName => (idOrAppId.startsWith('app_') ? 'id' : 'app_id')

function sqliteRead({ handles }: Extract<Database, { dialect: 'sqlite' }>) {
  return (_name: string, text: string): Read => {
    const statement = handles.reader.database.prepare(text)
    return async (...values) => statement.get(...values)
  }
}

function postgresRead({ pool }: Extract<Database, { dialect: 'postgres' }>) {
  return (name: string, text: string): Read => {
    let position = 0
    const numbered = text.replaceAll('?', () => `$${++position}`)
    return async (...values) => (await pool.query({ name, text: numbered, values })).rows[0]
  }
}

import type { KeyObject } from 'node:crypto'
import type { CompatibilityProtocol } from '@keyward/contract'
import type { Seal } from '../../core/crypto.ts'
import { importPrivateKey } from '../../core/signing/signing.ts'
import type { CommitCount, Database, PreparedRead } from '../../db/index.ts'
import type { CompatibilityRow } from '../../db/tables.ts'
import { keyContext, secretContext } from './compatibility.rules.ts'

/** An app that answers to programs of another system. */
export interface Claim {
  appId: string
  ownerId: string
  protocols: readonly CompatibilityProtocol[]
  secret: string
  key: KeyObject
}

const columns = 'c.app_id, c.owner_ref, c.enabled, c.protocols, c.secret_sealed, c.key_sealed'
const openedMax = 10_000
const keptMax = 10_000

type Named = { ownerId: string; name: string } | { app: string }

/** Finds the app of a program, each time with one prepared read; decrypted secrets stay in memory. */
export class Claims {
  readonly #seal: Seal
  readonly #named: PreparedRead
  readonly #byAppId: PreparedRead
  readonly #byId: PreparedRead
  readonly #opened = new Map<string, Claim>()
  readonly #commits: CommitCount | undefined
  /** The claims that were found since the last commit. */
  readonly #kept = new Map<string, Claim>()
  #keptAt: number | undefined

  constructor({ engine }: Pick<Database, 'engine'>, seal: Seal) {
    this.#seal = seal
    this.#commits = engine.commits
    const read = (name: string, where: string) =>
      engine.prepareRead(`compatibility-${name}`, `select ${columns} from compatibility c ${where}`)
    this.#named = read('claim', 'where c.owner_ref = ? and c.name = ?')
    this.#byAppId = read('app_id', 'join apps a on a.id = c.app_id where a.app_id = ?')
    this.#byId = read('id', 'where c.app_id = ?')
  }

  /** Undefined unless the app has it turned on. */
  find(named: Named): Promise<Claim | undefined> | Claim | undefined {
    const commits = this.#commits?.countCommits()
    if (commits === undefined) return this.#read(named)
    if (commits !== this.#keptAt || this.#kept.size >= keptMax) this.#kept.clear()
    this.#keptAt = commits
    const key = JSON.stringify(named)
    const kept = this.#kept.get(key)
    if (kept) return kept
    const found = this.#read(named)
    if (found !== undefined && !(found instanceof Promise)) this.#kept.set(key, found)
    return found
  }

  #read(named: Named): Promise<Claim | undefined> | Claim | undefined {
    const read =
      'ownerId' in named
        ? this.#named(named.ownerId, named.name)
        : (named.app.startsWith('app_') ? this.#byId : this.#byAppId)(named.app)
    return read instanceof Promise ? read.then((row) => this.#open(row)) : this.#open(read)
  }

  #open(found: object | undefined): Claim | undefined {
    const row = found as CompatibilityRow | undefined
    if (row?.enabled !== 1) return undefined
    const revision = `${row.secret_sealed} ${row.protocols} ${row.owner_ref}`
    let claim = this.#opened.get(revision)
    if (!claim) {
      claim = {
        appId: row.app_id,
        ownerId: row.owner_ref,
        protocols: JSON.parse(row.protocols),
        secret: this.#seal.open(row.secret_sealed, secretContext(row.app_id)),
        key: importPrivateKey(this.#seal.open(row.key_sealed, keyContext(row.app_id))),
      }
      if (this.#opened.size >= openedMax) this.#opened.clear()
      this.#opened.set(revision, claim)
    }
    return claim
  }
}

import type { Config } from '../config.ts'
import type { Database, TransactionOptions } from '../db/open.ts'
import type { Actor } from './actor.ts'
import type { Clock } from './clock.ts'
import type { Seal } from './crypto.ts'
import type { Passwords } from './passwords.ts'
import type { Write } from './record.ts'
import type { VpnRanges } from './vpn-ranges.ts'

/** The dependencies of every service; created once in `app.ts`, never imported as a global. */
export interface Ctx {
  config: Config
  clock: Clock
  seal: Seal
  passwords: Passwords
  vpn: Pick<VpnRanges, 'has' | 'isLoaded'>
  database: Database
  /** For reads outside a transaction; writes use `tx`. */
  db: Database['db']
  tx: <T>(actor: Actor, work: (write: Write) => Promise<T>, options?: TransactionOptions) => Promise<T>
}

/** The owner whose rows a call may access; it comes from the session, never from the request. */
export interface OwnerScope {
  ownerId: string
}

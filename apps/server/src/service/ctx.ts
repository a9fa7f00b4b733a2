import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Seal } from '../core/crypto.ts'
import type { VpnRanges } from '../core/networks/vpn-ranges.ts'
import type { Passwords } from '../core/passwords/passwords.ts'
import type { Database, Transactions } from '../db/index.ts'

/** The dependencies of every service; created once in `app.ts`, never imported as a global. */
export interface Ctx extends Transactions {
  config: Config
  clock: Clock
  seal: Seal
  passwords: Passwords
  vpn: Pick<VpnRanges, 'has' | 'isLoaded'>
  database: Database
}

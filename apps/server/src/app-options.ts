import type { Clock } from './core/clock.ts'
import type { Seal } from './core/crypto.ts'
import type { Passwords } from './core/passwords/passwords.ts'
import type { GateSizes } from './core/queues/gate.ts'
import type { Database, RecordConsumer } from './db/index.ts'
import type { ServerOptions } from './http/server.ts'
import type { Mailer } from './modules/mail/mail.service.ts'
import type { ProviderWaits } from './modules/payments/payments.provider.ts'
import type { SessionCapOptions } from './modules/program/program.start.ts'
import type { BackupOptions } from './modules/system/scheduled-backups.ts'
import type { WebhookTimes } from './modules/webhooks/webhooks.worker.ts'

export interface AppOptions extends ServerOptions {
  database: Database
  seal: Seal
  /** Directory of the built console. */
  consoleDir: string
  clock?: Clock
  passwords?: Passwords
  /** Once aborted, the server is about to close and says that it is not ready. */
  draining?: AbortSignal
  mailer?: Mailer
  /** Validates every response against the contract; for tests. */
  checkAnswers?: boolean
  /** Limit for one address; requests beyond it get 429. */
  programRequestsPerMinute?: number
  /** Interval of heartbeats and session checks on event streams. */
  heartbeatMs?: number | undefined
  /** Receives the records of each transaction after its commit. */
  onRecords?: RecordConsumer
  /** Delay of the first plan reminders after the start. */
  remindersAfterMs?: number | undefined
  /** How often deliveries of other nodes and of dead processes are looked for. */
  deliveriesEveryMs?: number | undefined
  /** How often interrupted imports are tried again. */
  importsEveryMs?: number | undefined
  /** Delay of the first check of open payments after the start. */
  reconcileAfterMs?: number | undefined
  /** How many requests of one account run at once; for tests. */
  gateSizes?: Partial<GateSizes> | undefined
  /** How many sessions an end user has at most; for tests. */
  sessionCap?: SessionCapOptions
  providerWaits?: ProviderWaits
  /** Whether this process delivers events; for tests. */
  deliversWebhooks?: boolean
  /** Whether this process runs imports from other systems; for tests. */
  runsImports?: boolean
  /** How long an old provider may take to answer. */
  oldProviderMs?: number | undefined
  /** How long a process has to use an event of a shop. */
  shopLeaseMs?: number | undefined
  /** For tests that do not wait for long. */
  webhookTimes?: WebhookTimes
  backupOptions?: BackupOptions
}

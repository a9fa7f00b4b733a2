import type { User } from '@keyward/contract'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { AppOptions } from '../app-options.ts'
import type { VendorActor } from '../core/actor.ts'
import type { LeakedPasswords } from '../core/passwords/leaked-passwords.ts'
import type { ProgramConsumer, QueueName, RecordConsumer, Tx } from '../db/index.ts'
import type { Floods } from '../http/flood-gate.ts'
import type { Mount } from '../http/mount.ts'
import type { Attempts } from '../service/attempts.ts'
import type { Ctx } from '../service/ctx.ts'
import type { DeliveryRunner } from '../service/delivery-runner.ts'
import type { Outbound } from '../service/outbound/outbound.ts'
import type { WriteBudget } from '../service/write-budget.ts'
import type { AccountMails } from './account-mails/account-mails.service.ts'
import type { ActivityLog } from './activity/activity.log.ts'
import type { BlockTables } from './blocklist/block-tables.ts'
import type { Compatibility } from './compatibility/compatibility.mount.ts'
import type { CustomerMails } from './customer-mails/customer-mails.worker.ts'
import type { Description } from './description.ts'
import type { Events } from './events/events.service.ts'
import type { ImportRunner } from './imports/imports.runner.ts'
import type { LazyMoves } from './lazy-move/lazy-moves.ts'
import type { MailOutbox } from './mail/mail.outbox.ts'
import type { Mailer } from './mail/mail.service.ts'
import type { LinkSender, PasswordResets, Request } from './password-resets/password-resets.service.ts'
import type { Payments } from './payments/payments.provider.ts'
import type { Program } from './program/program.start.ts'
import type { Holders } from './second-factors/holders.ts'
import type { HookGates } from './shops/hooks.service.ts'
import type { WaitingMails } from './shops/waiting-mails.ts'
import type { ScheduledBackups } from './system/scheduled-backups.ts'
import type { Refusal } from './webhooks/webhooks.refusals.ts'

/** What the server makes once when it starts. Routes and workers of modules take from it what they need. */
export interface Parts {
  options: AppOptions
  modules: readonly Description[]
  ctx: Ctx
  attempts: Attempts
  budget: WriteBudget
  outbound: Outbound
  mailer: Mailer
  floods: Floods
  log: FastifyBaseLogger
  onError: (error: unknown) => void
  /** Base URL of links; never from a request, whose Host header the sender controls. */
  consoleUrl: () => string
  wake: (queue: QueueName) => void
  // From here on, `Module.parts` makes them.
  mails: MailOutbox
  activity: ActivityLog
  accountMails: AccountMails
  blocks: BlockTables
  moves: LazyMoves
  resets: PasswordResets
  payments: Payments
  program: Program
  reads: Program['reads']
  signer: Program['signer']
  leaked: LeakedPasswords
  events: Events
  imports: ImportRunner
  hookGates: HookGates
  shopEvents: Pick<DeliveryRunner<never>, 'start' | 'wake' | 'end'>
  waitingMails: WaitingMails
  customerMails: CustomerMails
  webhooks: Pick<DeliveryRunner<never>, 'start' | 'wake' | 'end'>
  compatibility: Compatibility
  backups: ScheduledBackups
  // What a module makes for lower ones, which use it once all are made.
  readUser: (actor: VendorActor) => Promise<User>
  ownerRequests: Request
  resellerRequests: Request
  accountHolders: Holders
  resellerHolders: Holders
  sendLink: LinkSender
  queueRefusals: (tx: Tx, rows: readonly Refusal[]) => Promise<void>
}

/** What the server knows of a module. Each one describes itself in its file `<noun>.module.ts`, with the fields that it needs. */
export interface Module extends Description {
  /** Makes parts. Those of lower modules exist then. */
  parts?(parts: Parts): Partial<Parts>
  /** Mounts the calls of the contract. */
  routes?(mount: Mount, parts: Parts): void
  /** Adds to the web server what is no call of the contract, or is mounted in its own way. */
  install?(server: FastifyInstance, parts: Parts): void | Promise<void>
  /** Begins to work when the server is ready, and returns what ends the work before the server closes. */
  work?(parts: Parts): End | Promise<End>
  /** What wakes the workers of queues into which a transaction has written. */
  queues?(parts: Parts): Partial<Record<QueueName, () => void>>
  /** What receives the records of each transaction after its commit. */
  consume?(parts: Parts): RecordConsumer
  /** Likewise, but only those of programs. */
  consumeOfPrograms?(parts: Parts): ProgramConsumer
  /** Writes what was gathered, once all work has ended. Higher modules come first. */
  flush?(parts: Parts): Promise<unknown>
}

type End = () => Promise<unknown>

import { hostname } from 'node:os'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../../config.ts'
import { system } from '../../core/actor.ts'
import { day, hour, minute, second, toIso } from '../../core/clock.ts'
import { createSchedule } from '../../core/queues/schedule.ts'
import {
  type BackupFault,
  type BackupResult,
  listScheduled,
  type RunningBackup,
  removeOldScheduled,
  removeUnfinished,
  type ScheduledBackup,
  startScheduled,
} from '../../db/backup.ts'
import { storageFailureOf } from '../../db/failure.ts'
import type { Ctx } from '../../service/ctx.ts'
import { queueMail } from '../mail/mail.queue.ts'
import type { Mail, Mailer } from '../mail/mail.service.ts'
import { composeMail } from '../mail/mail.text.ts'
import { type BackupState, newState, putBackupState, readBackupState } from './backup-state.ts'
import { adviceOn, isDue } from './backups.rules.ts'

/** Servers that start again and again begin no backup. */
const firstMs = 10 * second
const pollMs = minute
/** A disk that hangs must not hide that there are no backups. */
const limitMs = 12 * hour

type Fault = Extract<BackupResult, { fault: BackupFault }>

interface Parts {
  ctx: Ctx
  mailer: Mailer
  log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
  onError: (error: unknown) => void
}

/** For tests. */
export interface BackupOptions {
  firstMs?: number
  pollMs?: number
  /** What runs instead of the usual process. */
  program?: URL
}

/** Makes backups of the embedded database by schedule, verifies each, and tells the operator when that fails. */
export class ScheduledBackups {
  /** Since the start of the server. */
  readonly made = { success: 0, failure: 0 }
  readonly #parts: Parts
  readonly #options: BackupOptions
  readonly #schedule: ReturnType<typeof createSchedule>
  #state: BackupState | undefined
  /** Whether the database knows the id of this installation. */
  #isStored = false
  #running: RunningBackup | undefined
  #isEnding = false

  constructor(parts: Parts, options: BackupOptions = {}) {
    this.#parts = parts
    this.#options = options
    const everyMs = options.pollMs ?? pollMs
    this.#schedule = createSchedule(() => this.#check(), { everyMs, onError: parts.onError })
  }

  get isFailing(): boolean {
    return this.#state?.failure != null
  }

  start(): void {
    if (this.#parts.ctx.config.backups.everyMs === 0) return
    this.#schedule.start(this.#options.firstMs ?? firstMs)
  }

  /** Ends a backup that runs, whose files are removed. */
  async end(): Promise<void> {
    this.#isEnding = true
    this.#running?.stop()
    await this.#schedule.end()
  }

  async #check(): Promise<undefined> {
    const { ctx } = this.#parts
    const { everyMs } = ctx.config.backups
    const state = await this.#readState()
    const now = ctx.clock.now()
    const found = await this.#findNewest(state.id)
    const newest = found !== undefined && 'path' in found ? found : undefined
    const times = { madeAt: newest?.madeAt, failedAt: state.failure?.at, now, everyMs }
    if (this.#isEnding || !isDue(times)) return
    // Its id is stored before a file has it.
    const isKnown = this.#isStored || (await this.#store(state))
    const fault = found && 'fault' in found ? found : isKnown === true ? undefined : isKnown
    const made = fault ?? (await this.#make(state.id, now, newest))
    if ('path' in made) await this.#succeed(state, made.path)
    else if (!this.#isEnding) await this.#fail(state, now, made, newest?.madeAt)
  }

  async #readState(): Promise<BackupState> {
    if (!this.#state) {
      const stored = await readBackupState(this.#parts.ctx.db)
      this.#isStored = stored !== undefined
      this.#state = stored ?? newState()
    }
    return this.#state
  }

  /** The newest backup of this installation, or why that cannot be said. */
  async #findNewest(id: string): Promise<ScheduledBackup | Fault | undefined> {
    const { directory } = this.#parts.ctx.config.backups
    try {
      // Nothing runs now: these files are of a process that was killed.
      await removeUnfinished(directory, id)
      return (await listScheduled(directory, id))[0]
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return { fault: 'folder', reason: `${directory} cannot be used (${code}).` }
    }
  }

  async #make(
    id: string,
    now: number,
    newest: ScheduledBackup | undefined,
  ): Promise<{ path: string } | Fault> {
    const { ctx, log } = this.#parts
    const { dataDir, secretKey, secretKeyPrevious, backups } = ctx.config
    const begun = performance.now()
    const number = (newest?.number ?? 0) + 1
    const { directory } = backups
    const wanted = { dataDir, directory, id, number, secretKey, secretKeyPrevious, now }
    const running = startScheduled(wanted, limitMs, this.#options.program)
    this.#running = running
    if (this.#isEnding) running.stop()
    const made = await running.result
    this.#running = undefined
    if ('fault' in made) return made
    const { path } = running
    log.info({ path, bytes: made.bytes, ms: Math.round(performance.now() - begun) }, 'backup verified')
    await removeOldScheduled(directory, id, backups.keep).catch((err) =>
      log.warn({ err }, 'an old backup cannot be deleted'),
    )
    return { path }
  }

  async #succeed(state: BackupState, path: string): Promise<void> {
    this.made.success += 1
    if (state.failure === null && !state.isTold) return
    const { config } = this.#parts.ctx
    const { mailTo } = config.backups
    const mail = state.isTold && mailTo !== undefined ? recoveryMail(config, mailTo, path) : undefined
    await this.#store({ ...state, failure: null, isTold: false }, mail)
  }

  async #fail(
    state: BackupState,
    now: number,
    { fault, reason }: Fault,
    madeAt: number | undefined,
  ): Promise<void> {
    const { ctx, log } = this.#parts
    const { mailTo } = ctx.config.backups
    this.made.failure += 1
    log.error({ reason }, 'the scheduled backup failed')
    const failure = { since: state.failure?.since ?? now, at: now, fault, reason }
    const isToldToday = state.toldAt !== null && Math.abs(now - state.toldAt) < day
    if (mailTo === undefined || isToldToday) await this.#store({ ...state, failure })
    else {
      const mail = failureMail(ctx.config, mailTo, failure, madeAt)
      await this.#store({ ...state, failure, toldAt: now, isTold: true }, mail)
    }
  }

  /** Stores what is remembered, and queues a mail with it; returns what keeps it from being stored, if anything. */
  async #store(state: BackupState, mail?: Mail): Promise<Fault | true> {
    const { ctx, mailer } = this.#parts
    const before = this.#state
    this.#state = state
    try {
      await ctx.tx(system, async (write) => {
        await putBackupState(write.tx, state)
        if (mail) await queueMail(ctx, write, { ...mail, ownerId: null })
      })
      this.#isStored = true
      return true
    } catch (error) {
      if (storageFailureOf(error) === undefined) throw error
    }
    // A full disk takes no mail into the queue, and is what most mails would be about.
    const isSent = mail && (await mailer.send(mail).then(() => true, this.#parts.onError))
    if (mail && !isSent && before) this.#state = { ...state, toldAt: before.toldAt, isTold: before.isTold }
    return { fault: 'space', reason: `The disk of ${ctx.config.dataDir} is full.` }
  }
}

const nameOf = ({ publicUrl }: Config): string => publicUrl ?? hostname()

type Failure = NonNullable<BackupState['failure']>

export function failureMail(
  config: Config,
  to: string,
  { fault, reason }: Failure,
  newest: number | undefined,
): Mail {
  const { directory } = config.backups
  return composeMail({
    to,
    subject: `Keyward: a backup of ${nameOf(config)} failed`,
    paragraphs: [
      `The scheduled backup into ${directory} failed: ${reason}`,
      newest === undefined
        ? 'There is no scheduled backup yet.'
        : `The newest one is of ${toIso(newest)}. No older one is deleted until a new one is verified.`,
      adviceOn(fault, directory),
      'The server tries again every hour. While that fails, it sends one mail a day, and one when backups work again.',
    ],
  })
}

export const recoveryMail = (config: Config, to: string, path: string): Mail =>
  composeMail({
    to,
    subject: `Keyward: backups of ${nameOf(config)} work again`,
    paragraphs: [`The server made ${path}, and a restore of it succeeded.`],
  })

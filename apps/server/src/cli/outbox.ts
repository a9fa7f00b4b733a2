import { minute, systemClock, toIso } from '../core/clock.ts'
import type { Database } from '../db/index.ts'
import { readMailQueue } from '../modules/mail/mail.status.ts'
import { readWebhookQueue } from '../modules/webhooks/webhooks.status.ts'
import type { QueueState } from '../service/queue-state.ts'
import { command, print, UsageError, withDatabase } from './command.ts'

/** How each queue is read. */
const queues = [readMailQueue, readWebhookQueue]

export const outboxCommand = command<{ json?: boolean }>({
  name: 'outbox',
  forms: [
    {
      form: 'outbox [--json]',
      does: ['show how many mails wait, since when, how many of them fail,', 'and how many were given up'],
    },
  ],
  options: { json: { type: 'boolean' } },
  run(args, { json = false }) {
    const read = parseOutbox(args, json)
    return withDatabase(async (database) => print(await read(database)))
  },
})

/** Shows what waits for delivery, and what was given up. */
function parseOutbox(args: string[], isJson: boolean): (database: Database) => Promise<string> {
  if (args.length > 0) throw new UsageError('Usage: keyward outbox [--json]')
  return async ({ db }) => {
    const now = systemClock.now()
    const states = await Promise.all(queues.map((read) => read(db, now)))
    if (!isJson) return states.map((state) => describe(state, now)).join('')
    const shown = states.map(({ waitingSince, ...state }) => ({
      ...state,
      waitingSince: waitingSince === null ? null : toIso(waitingSince),
    }))
    return `${JSON.stringify({ queues: shown }, null, 2)}\n`
  }
}

function describe({ queue, waiting, waitingSince, failing, failedLastDay }: QueueState, now: number): string {
  const age = waitingSince === null ? '' : `, the oldest for ${Math.floor((now - waitingSince) / minute)} min`
  const failed = failing === 0 ? '' : `, ${failing} failed at least once`
  return `${queue}: ${waiting} waiting${age}${failed}; ${failedLastDay} given up in the last 24 hours\n`
}

import type { FastifyInstance } from 'fastify'
import { problem } from '../../core/problem.ts'
import type { Gates } from '../../core/queues/gate.ts'
import type { Parts } from '../module.ts'
import { offersMetrics } from './metrics.rules.ts'

/** Serves `/metrics`, whose code is loaded only where somebody may read it. */
export async function installMetrics(server: FastifyInstance, parts: Parts, gates: Gates): Promise<void> {
  const { ctx, backups, options, program } = parts
  if (!offersMetrics(ctx.config)) {
    server.get('/metrics', async () => {
      throw problem('not_found')
    })
    return
  }
  const { startMetrics } = await import('./metrics.ts')
  startMetrics(server, {
    ...{ ctx, backups, droppedLines: () => options.log?.droppedLines ?? 0 },
    queues: () => ({
      passwords: ctx.passwords.waiting,
      requests: gates.requests.waiting + gates.keys.requests.waiting,
      jobs: gates.jobs.waiting + gates.keys.jobs.waiting,
      bodies: gates.bodies.waiting,
      program_writes: program.waitingWrites,
      lists: ctx.database.engine.waitingLists?.() ?? 0,
    }),
  })
}

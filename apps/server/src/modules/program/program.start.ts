import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LeakedPasswords } from '../../core/passwords/leaked-passwords.ts'
import type { ProgramConsumer } from '../../db/index.ts'
import { keepFiles } from '../releases/kept-releases.ts'
import { ProgramReads } from './facts/reads.ts'
import { ProgramVariables } from './facts/variables.ts'
import { createProgramMount } from './http/mount.ts'
import { programRoutes } from './http/routes.ts'
import { AnswerSigner } from './http/signer.ts'
import { createProgramCalls, type ProgramCalls } from './program.calls.ts'
import type { ProgramDeps } from './program.deps.ts'
import { ProgramSdks, ProgramSessions, SessionCap, type SessionCapOptions } from './sessions/sessions.ts'
import { WriteTurns } from './sessions/write-turns.ts'
import { mountFeeds } from './updates/feeds.mount.ts'

export type { SessionCapOptions }

interface ProgramOptions extends Pick<ProgramDeps, 'ctx' | 'activity' | 'blocks' | 'attempts' | 'moves'> {
  checkAnswers: boolean
  sessionCap: SessionCapOptions | undefined
  onError: (error: unknown) => void
}

export interface Program extends Pick<ProgramDeps, 'reads' | 'signer' | 'leaked'> {
  calls: ProgramCalls
  /** Writes of programs that wait for a turn. */
  readonly waitingWrites: number
  consume: ProgramConsumer
  /** Mounts the calls of programs; `refuseFlood` returns an error for an address that sends too many. */
  mount(server: FastifyInstance, refuseFlood: (request: FastifyRequest) => Error | undefined): void
  close(): Promise<void>
}

/** Starts what the calls of programs share. */
export function startProgram({ checkAnswers, sessionCap, onError, ...shared }: ProgramOptions): Program {
  const { ctx } = shared
  const cap = new SessionCap(ctx, onError, sessionCap)
  const deps: ProgramDeps = {
    ...shared,
    reads: new ProgramReads(ctx.database, ctx.clock),
    files: keepFiles(ctx.database),
    sessions: new ProgramSessions(ctx, onError),
    sdks: new ProgramSdks(ctx, onError),
    variables: new ProgramVariables(ctx),
    leaked: new LeakedPasswords({ url: ctx.config.leakedPasswordsUrl, onError }),
    turns: new WriteTurns(ctx.database),
    signer: new AnswerSigner(ctx.db, ctx.seal, ctx.config.basePath, onError),
  }
  return {
    reads: deps.reads,
    signer: deps.signer,
    leaked: deps.leaked,
    calls: createProgramCalls(deps),
    get waitingWrites() {
      return deps.turns.waiting
    },
    consume: cap.consume,
    mount: (server, refuseFlood) => {
      programRoutes(createProgramMount(server, { ...deps, refuseFlood, checkAnswers }), deps)
      mountFeeds(server, deps, refuseFlood)
    },
    close: async () => {
      await deps.signer.close()
      await deps.sessions.flush()
      await deps.sdks.ended()
      await cap.ended()
    },
  }
}

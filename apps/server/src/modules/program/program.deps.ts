import type { LeakedPasswords } from '../../core/passwords/leaked-passwords.ts'
import type { Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { ActivityLog } from '../activity/activity.log.ts'
import type { BlockTables } from '../blocklist/block-tables.ts'
import type { LazyMoves } from '../lazy-move/lazy-moves.ts'
import type { KeptReleases, ReleaseFiles } from '../releases/kept-releases.ts'
import type { ProgramReads } from './facts/reads.ts'
import type { ProgramVariables } from './facts/variables.ts'
import type { AnswerSigner } from './http/signer.ts'
import type { ProgramSdks, ProgramSessions } from './sessions/sessions.ts'
import type { WriteTurns } from './sessions/write-turns.ts'

/** What the calls of programs share while the server runs. */
export interface ProgramDeps {
  ctx: Ctx
  activity: ActivityLog
  blocks: BlockTables
  leaked: LeakedPasswords
  reads: ProgramReads
  files: KeptReleases<ReleaseFiles>
  sessions: ProgramSessions
  sdks: ProgramSdks
  variables: ProgramVariables
  attempts: Attempts
  signer: AnswerSigner
  turns: WriteTurns
  moves: LazyMoves
}

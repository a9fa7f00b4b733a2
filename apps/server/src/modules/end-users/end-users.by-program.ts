import type { ProgramActor } from '../../core/actor.ts'
import { Problem, problem, requireSession } from '../../core/problem.ts'
import type { Ctx } from '../../service/ctx.ts'
import { blockAll, normalize } from '../blocklist/blocklist.service.ts'
import { updateEndUser } from '../entitlements/end-user-rows.ts'
import { lockEndUser } from './end-users.access.ts'
import { renamed } from './end-users.repairs.ts'
import { toNewUsername } from './end-users.rules.ts'

// What a program changes of the end user that is signed in to it.

/** Bans the end user, and blocks its machine if there is one; its address stays free, because many may share it. */
export async function banByProgram(
  ctx: Ctx,
  actor: ProgramActor,
  id: string,
  { reason, hwid }: { reason: string | null; hwid: string | undefined },
): Promise<void> {
  await ctx.tx(actor, async (write) => {
    requireSession(await lockEndUser(write.tx, actor, id))
    await updateEndUser(write.tx, actor, id, { banned: 1, ban_reason: reason })
    write.record('end_user.banned', id, { reason }, actor.appId)
  })
  if (hwid === undefined) return
  const block = normalize({ kind: 'hwid', value: hwid, reason: reason ?? undefined })
  await ctx
    .tx(actor, (write) => blockAll(write, actor, actor.appId, [block]))
    .catch((error: unknown) => {
      // The ban stands without it.
      if (!(error instanceof Problem) || error.code !== 'blocklist_full') throw error
    })
}

export async function renameByProgram(
  ctx: Ctx,
  actor: ProgramActor,
  id: string,
  { username, shortest }: { username: string; shortest: number },
): Promise<void> {
  if ([...username].length < shortest) throw problem('unTooShort')
  const name = toNewUsername(username)
  const rename = async (write: Parameters<Parameters<Ctx['tx']>[1]>[0]) => {
    requireSession(await lockEndUser(write.tx, actor, id))
    await updateEndUser(write.tx, actor, id, renamed(name))
    write.record('end_user.updated', id, { fields: ['username'] }, actor.appId)
  }
  await ctx.tx(actor, rename, { onTaken: () => problem('usernameTaken') })
}

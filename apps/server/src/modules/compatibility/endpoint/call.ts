import type { Ctx } from '../../../service/ctx.ts'
import { pageOf } from '../../app-mails/buyer-mails.ts'
import { getApp } from '../../apps/apps.access.ts'
import type { AppFacts, EndUserFacts, ProgramCalls, SessionFacts } from '../../program/program.service.ts'
import type { OnlineUsers } from '../compatibility.online.ts'
import type { SeenPrograms } from '../compatibility.seen.ts'
import type { SessionTokens } from '../compatibility.sessions.ts'
import type { Payload } from './answers.ts'
import type { Exchange } from './exchange.ts'

export interface CallDeps {
  ctx: Ctx
  calls: ProgramCalls
  seen: SeenPrograms
  online: OnlineUsers
  tokens: SessionTokens
  consoleUrl: () => string
}

/** A call whose session is known. */
export type SessionExchange = Exchange & { session: SessionFacts }
export type Handler = (deps: CallDeps, exchange: SessionExchange) => Promise<Payload>

/** The signed-in end user, with a seat if the license has seats: our own protocol sends variables with a check. */
export async function seatedUser(
  calls: ProgramCalls,
  session: SessionFacts,
  address: string,
): Promise<EndUserFacts> {
  await calls.check(session, address)
  return session.endUser as EndUserFacts
}

/** The page of the app for its customers; empty without one. */
export async function panelLink({ config, db }: Pick<Ctx, 'config' | 'db'>, app: AppFacts): Promise<string> {
  return config.publicUrl === undefined ? '' : (pageOf(config, await getApp(db, app, app.id)) ?? '')
}

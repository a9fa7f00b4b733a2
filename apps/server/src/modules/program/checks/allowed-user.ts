import type { ProgramCall } from '@keyward/contract'
import { problem } from '../../../core/problem.ts'
import { sentHash } from '../../devices/devices.service.ts'
import { judgeCaller } from '../facts/caller.ts'
import type { EndUserFacts, SessionFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { refuseBy } from '../verdict/refusal.ts'
import { factsOf, type VerdictFacts } from '../verdict/verdict-facts.ts'

interface SessionCall {
  call: ProgramCall
  address: string
  /** Whether the call names another machine than the session signed in on. */
  isAnother?: boolean
}

interface Allowed {
  endUser: EndUserFacts
  facts: VerdictFacts
}

/** Returns the signed-in end user unless the verdict refuses; whether a seat is free is decided after it. */
export async function allowedUser(
  deps: ProgramDeps,
  session: SessionFacts,
  { call, address, isAnother = false }: SessionCall,
): Promise<Allowed> {
  const { app, endUser, firstKey, hwidHash, device } = session
  if (!endUser) throw problem('sessionUnauthed')
  const caller = {
    hwidHash: hwidHash && sentHash(hwidHash),
    readParts: device?.readParts,
    address,
  }
  const { used, limit } = endUser.devices
  const facts = factsOf(call, {
    app,
    endUser,
    key: firstKey,
    caller: await judgeCaller(deps, app, caller),
    updates: { releasedAt: session.releasedAt, until: endUser.updatesUntil },
    device: { isSent: hwidHash !== null, isBound: device !== null, isAnother, used, limit },
    now: deps.ctx.clock.now(),
  })
  refuseBy(facts)
  deps.sessions.use(session)
  return { endUser, facts }
}

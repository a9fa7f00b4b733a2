import type { Machine } from '../../devices/devices.rules.ts'
import { callerOf, judgeCaller } from '../facts/caller.ts'
import type { AppFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import type { SignInDevice } from './admit.ts'

interface Sent {
  machine: Machine | undefined
  address: string
  isSignIn?: boolean
}

/** Judges the caller before a transaction begins, because the block list may have to be read. */
export async function toDevice(
  deps: ProgramDeps,
  app: AppFacts,
  { machine, address, isSignIn = true }: Sent,
): Promise<SignInDevice> {
  const caller = await judgeCaller(deps, app, callerOf(machine, address))
  return { machine, address, caller, isSignIn }
}

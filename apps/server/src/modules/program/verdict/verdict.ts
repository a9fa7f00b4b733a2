import { checksOf, type ProgramCall, reasonsOf, type Subject } from '@keyward/contract'
import { type Guard, type GuardCode, guards } from './guards.ts'
import type { VerdictFacts } from './verdict-facts.ts'

/** A guard as one call runs it. */
export interface Check {
  code: GuardCode
  refuses(facts: VerdictFacts): boolean
  reason(facts: VerdictFacts): string | null
}

const isGuarded = (code: string): code is GuardCode => Object.hasOwn(guards, code)

function toCheck(call: ProgramCall, code: GuardCode): Check {
  const guard: Guard = guards[code]
  const subject = checksOf[call][code] as Subject
  return {
    code,
    refuses: (facts) => guard.refuses(facts, subject),
    reason: (facts) => guard.reason?.(facts) ?? null,
  }
}

const calls = Object.keys(checksOf) as ProgramCall[]

/** The guards that each call runs, in reporting order. */
export const callChecks = Object.fromEntries(
  calls.map((call) => [
    call,
    reasonsOf(call)
      .filter(isGuarded)
      .map((code) => toCheck(call, code)),
  ]),
) as unknown as Record<ProgramCall, readonly Check[]>

export interface Refusal {
  code: GuardCode
  /** The owner's reason. */
  reason: string | null
  facts: VerdictFacts
}

/** Why a call is refused; undefined if it is not. The first check that refuses decides. */
export function verdict(facts: VerdictFacts): Refusal | undefined {
  for (const check of callChecks[facts.call]) {
    if (check.refuses(facts)) return { code: check.code, reason: check.reason(facts), facts }
  }
  return undefined
}

const appChecks = ['appDisabled', 'pausedApp'] as const

/** Why no program of this app may run, before anything else is read; every call makes these checks. */
export const appVerdict = (app: VerdictFacts['app']): GuardCode | undefined =>
  appChecks.find((code) => guards[code].refuses({ app, build: null }))

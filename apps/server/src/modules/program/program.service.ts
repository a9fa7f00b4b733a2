// What other modules use of the calls of programs; `scripts/boundaries.mjs` lets them import no other file.
export type { AppFacts } from './facts/facts.ts'
export { readSituation, type SituationDeps } from './facts/now.ts'
export type { ProgramReads } from './facts/reads.ts'
export type { AnswerSigner } from './http/signer.ts'
export { type AdmittedMachine, admitOfflineMachine, noteRefusedActivation } from './offline/activation.ts'
export { callOf, codesOf, type Situation } from './verdict/situation.ts'

// The door of the database: reads of `ctx.db` and `ctx.database.lists`, `ctx.tx`, `inSlices`, `findPage`, `lock` and
// `prepared`. A prepared statement runs at once (`execute`), with the next one (`later`) or with the commit (`write.last`).
export type { CommitCount, Database, PreparedRead } from './engine.ts'
export { isUniqueViolation } from './failure.ts'
export { toJson } from './json.ts'
export {
  type ActionRecord,
  type Follows,
  type ProgramConsumer,
  type QueueName,
  type RecordConsumer,
  type Transactions,
  transactAsOperator,
  WriteTransaction,
} from './record.ts'
export { wants } from './record-rows.ts'
export { appInScope, foundInScope, inScope, isIn, isOneOf, lowerCase, ownerOf } from './scope.ts'
export { inSlices, type Slice } from './slices.ts'
export { lock, prepared, type Statement } from './statements.ts'
export type { Db, Tx } from './tables.ts'
export {
  holdsUpOthers,
  isMany,
  readPatiently,
  type Step,
  type Steps,
  type StepTransaction,
  stepsOf,
  type TransactionOptions,
} from './transact.ts'

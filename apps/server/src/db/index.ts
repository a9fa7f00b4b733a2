// The door of the database. A statement is a query of Kysely, a prepared `query`, an `insert` or an `update`; it runs at
// once (`run`), with the next one (`send`) or with the commit (`WriteTransaction.last`).
export type { CommitCount, Database, PreparedRead } from './engine.ts'
export { isIn, lowerCase, ownerOf } from './expressions.ts'
export { isUniqueViolation } from './failure.ts'
export { toJson } from './json.ts'
export { listLanes } from './lanes.ts'
export { wants } from './queued-events.ts'
export {
  type ActionRecord,
  operatorTransactions,
  type QueueName,
  type RecordConsumer,
  type Transactions,
  transactAsOperator,
  WriteTransaction,
} from './record.ts'
export { lock, lockAll, lockShared, query, run, send, takeLocks } from './run.ts'
export { appInScope, foundInScope, inScope, isOneOf } from './scope.ts'
export { inSlices, type Slice } from './slices.ts'
export { insert, update } from './statements.ts'
export { type Step, type Steps, type StepTransaction, stepsOf } from './steps.ts'
export type { Db, Tx } from './tables.ts'
export { holdsUpOthers, isMany, readPatiently, type TransactionOptions } from './transact.ts'

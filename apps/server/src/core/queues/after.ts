/** What is known at once, or has to be awaited. */
export type Soon<Value> = Promise<Value> | Value

/** Passes a value on, at once if it is known: each promise costs a check time. */
export const after = <Value, Result>(
  value: Soon<Value>,
  next: (value: Value) => Soon<Result>,
): Soon<Result> => (value instanceof Promise ? value.then(next) : next(value))

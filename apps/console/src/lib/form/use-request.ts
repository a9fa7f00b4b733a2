import { useRef } from 'react'
import { isRejected } from '../api/call.ts'
import { newIdempotencyKey } from '../api/idempotency-key.ts'

export interface KeyedBody<Body> {
  body: Body
  idempotencyKey: string
}

/**
 * Makes the request of a form's values. Submitting the same values again sends the same request with the same key,
 * until the server has rejected it: without a response, it may have been carried out.
 */
export function useRequest<Values, Body>(toBody: (values: Values) => Body) {
  const last = useRef<{ values: string; request: KeyedBody<Body> }>(undefined)
  return {
    of(given: Values): KeyedBody<Body> {
      const values = JSON.stringify(given)
      if (last.current?.values !== values) {
        const request = { body: toBody(given), idempotencyKey: newIdempotencyKey() }
        last.current = { values, request }
      }
      return last.current.request
    },
    noteFailure(error: unknown): void {
      if (isRejected(error)) last.current = undefined
    },
  }
}

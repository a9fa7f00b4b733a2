import { useRef } from 'react'
import { isRejected } from '../api/call.ts'
import { newIdempotencyKey } from '../api/idempotency-key.ts'
import { useDraft } from './drafts.ts'

export interface KeyedBody<Body> {
  body: Body
  idempotencyKey: string
}

interface Last<Body> {
  values: string
  request: KeyedBody<Body>
}

/**
 * Makes and sends the request of a form's values. Submitting the same values again sends the same request with the same
 * key, until the server has answered or rejected it: without a response, it may have been carried out. The
 * session may expire before the repeat, so the request is kept with the draft of the form.
 */
export function useRequest<Values, Body>(toBody: (values: Values) => Body) {
  const last = useRef<Last<Body> | null>(null)
  useDraft<Last<Body> | null>({
    name: 'request',
    opened: null,
    read: () => last.current,
    restore: (kept) => {
      last.current = kept
    },
  })

  function requestOf(formValues: Values): KeyedBody<Body> {
    const values = JSON.stringify(formValues)
    if (last.current?.values === values) return last.current.request
    const request = { body: toBody(formValues), idempotencyKey: newIdempotencyKey() }
    last.current = { values, request }
    return request
  }

  return async function send<Answer>(
    values: Values,
    to: (request: KeyedBody<Body>) => Promise<Answer>,
  ): Promise<Answer> {
    const request = requestOf(values)
    const end = () => {
      if (last.current?.request === request) last.current = null
    }
    try {
      const answer = await to(request)
      end()
      return answer
    } catch (error) {
      if (isRejected(error)) end()
      throw error
    }
  }
}

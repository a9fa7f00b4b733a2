/** What the provider answers a refused call with: https://razorpay.com/docs/errors */
export interface ErrorBody {
  error: {
    code: string
    description: string
    source?: string
    step?: string
    reason?: string
    metadata?: Record<string, string>
    field?: string
  }
}

/** A refusal on its way to the caller. */
export class Refusal extends Error {
  readonly status: number
  readonly body: ErrorBody

  constructor(status: number, body: ErrorBody) {
    super(body.error.description)
    this.status = status
    this.body = body
  }
}

/** A refusal of the caller's input; the fields are those of the failure samples in the API reference. */
export function refuse(description: string, detail: Partial<ErrorBody['error']> = {}, status = 400): Refusal {
  return new Refusal(status, {
    error: {
      code: 'BAD_REQUEST_ERROR',
      description,
      source: 'business',
      step: 'payment_initiation',
      reason: 'input_validation_failed',
      metadata: {},
      ...detail,
    },
  })
}

/** The refusal of a refund's idempotency key, documented with `NA` in place of source, step and reason. */
export function refuseKey(description: string, status = 400): Refusal {
  return refuse(description, { source: 'NA', step: 'NA', reason: 'NA' }, status)
}

/** The answer to missing or wrong keys: https://razorpay.com/docs/api/authentication */
export function refuseKeys(): Refusal {
  return new Refusal(401, { error: { code: 'BAD_REQUEST_ERROR', description: 'Authentication failed' } })
}

/** The answer to the id of nothing: https://razorpay.com/docs/api/orders/fetch-with-id */
export function refuseId(): Refusal {
  return refuse('The id provided does not exist')
}

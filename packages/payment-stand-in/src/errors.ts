/** The provider's error response: https://razorpay.com/docs/errors */
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

/** An error to send to the caller. */
export class Refusal extends Error {
  readonly status: number
  readonly body: ErrorBody

  constructor(status: number, body: ErrorBody) {
    super(body.error.description)
    this.status = status
    this.body = body
  }
}

/** An error about the caller's input, with the fields of the samples in the API reference. */
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

/** An error about a refund's idempotency key; source, step and reason are `NA`, as documented. */
export function refuseKey(description: string, status = 400): Refusal {
  return refuse(description, { source: 'NA', step: 'NA', reason: 'NA' }, status)
}

/** Rejects unknown fields: https://razorpay.com/docs/api/refunds/create-normal */
export function checkFields(body: Record<string, unknown>, known: string): void {
  const extra = Object.keys(body).filter((name) => !known.split(' ').includes(name))
  if (extra.length > 0)
    throw refuse(`${extra.join(', ')} is/are not required and should not be sent`, {
      reason: 'extra_field_sent',
    })
}

/** The error for missing or wrong API keys: https://razorpay.com/docs/api/authentication */
export function refuseKeys(): Refusal {
  return new Refusal(401, { error: { code: 'BAD_REQUEST_ERROR', description: 'Authentication failed' } })
}

/** The error for an unknown id: https://razorpay.com/docs/api/orders/fetch-with-id */
export function refuseId(id: string): Refusal {
  return refuse(
    /^[a-z]+_[A-Za-z0-9]{14}$/.test(id) ? 'The id provided does not exist' : `${id} is not a valid id`,
  )
}

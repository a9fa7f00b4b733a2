import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { sameDigest } from '../../core/crypto.ts'
import {
  type PaymentProvider,
  type ProviderDispute,
  ProviderError,
  type ProviderEvent,
  type ProviderPayment,
} from './payments.provider.ts'

export interface RazorpaySettings {
  keyId: string
  keySecret: string
  /** Undefined: every event is rejected. */
  webhookSecret: string | undefined
  apiUrl: string
  timeoutMs: number
}

/** Fits the integer columns and exceeds any price. */
const amount = z.int32().nonnegative()
const currency = z.string().regex(/^[A-Z]{3}$/)
/** May contain buyers' input. */
const text = z.string().transform((value) => value.replace(/\p{Cc}+/gu, ' ').toWellFormed())
const paymentEntity = z.object({
  id: z.string(),
  order_id: z.string().nullish(),
  status: z.enum(['created', 'authorized', 'captured', 'refunded', 'failed']),
  amount,
  currency,
  amount_refunded: amount.nullish(),
  method: text.nullish(),
  error_description: text.nullish(),
})
const disputeEntity = z.object({ id: z.string(), payment_id: z.string(), status: z.string() })
const named = z.object({ id: z.string() })
const event = z.object({
  payload: z
    .object({
      payment: z.object({ entity: z.object({ id: z.string(), order_id: z.string().nullish() }) }).optional(),
      order: z.object({ entity: named }).optional(),
      refund: z.object({ entity: z.object({ payment_id: z.string() }) }).optional(),
      dispute: z.object({ entity: z.object({ id: z.string(), payment_id: z.string() }) }).optional(),
    })
    .optional(),
})

const hmacHex = (secret: string, text: string | Buffer): string =>
  createHmac('sha256', secret).update(text).digest('hex')

/** https://razorpay.com/docs/api: orders, payments, refunds, disputes; webhooks are validated as documented there. */
export function createRazorpay(settings: RazorpaySettings): PaymentProvider {
  const request = createRequest(settings)
  const getPayment = async (id: string) =>
    toPayment(await request('GET', `/payments/${encodeURIComponent(id)}`, paymentEntity))
  return {
    name: 'razorpay',
    keyId: settings.keyId,
    async createOrder(order) {
      const { id } = await request('POST', '/orders', named, { body: order })
      return id
    },
    async findOrder(receipt) {
      const found = z.object({ items: z.array(z.object({ id: z.string(), receipt: z.string().nullish() })) })
      const { items } = await request('GET', `/orders?receipt=${encodeURIComponent(receipt)}`, found)
      return items.find((order) => order.receipt === receipt)?.id
    },
    isGenuine: ({ orderId, paymentId, signature }) =>
      sameDigest(hmacHex(settings.keySecret, `${orderId}|${paymentId}`), signature),
    findPayment: (id) => unlessMissing(getPayment(id)),
    async listPayments(orderId) {
      const found = z.object({ items: z.array(paymentEntity) })
      const { items } = await request('GET', `/orders/${encodeURIComponent(orderId)}/payments`, found)
      return items.map(toPayment)
    },
    async capture({ id, amount, currency }) {
      const path = `/payments/${encodeURIComponent(id)}/capture`
      const captured = request('POST', path, paymentEntity, { body: { amount, currency } })
      // Fails if the payment was captured concurrently, or another payment of the order was.
      return captured.then(toPayment).catch(async (error: unknown) => {
        const now = await getPayment(id)
        if (now.status === 'authorized' && !(error as ProviderError).refused) throw error
        return now
      })
    },
    async refund(payment, key) {
      const body = { amount: payment.amount - payment.amountRefunded }
      const headers = { 'x-refund-idempotency': key }
      await request('POST', `/payments/${encodeURIComponent(payment.id)}/refund`, named, { body, headers })
      return getPayment(payment.id)
    },
    async findDispute(id) {
      const found = unlessMissing(request('GET', `/disputes/${encodeURIComponent(id)}`, disputeEntity))
      return found.then((dispute) => dispute && toDispute(dispute))
    },
    readEvent: (body, signature) => readEvent(settings.webhookSecret, body, signature),
  }
}

class MissingError extends ProviderError {}

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (error instanceof MissingError) return undefined
    throw error
  }
}

interface Sent {
  body?: object
  headers?: Record<string, string>
}

function createRequest({ keyId, keySecret, apiUrl, timeoutMs }: RazorpaySettings) {
  const authorization = `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString('base64')}`
  const base = `${apiUrl.replace(/\/+$/, '')}/v1`
  return async <T>(
    method: 'GET' | 'POST',
    path: string,
    schema: z.ZodType<T>,
    sent: Sent = {},
  ): Promise<T> => {
    const { status, json } = await exchange(`${base}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json', ...sent.headers },
      body: sent.body === undefined ? null : JSON.stringify(sent.body),
      signal: AbortSignal.timeout(timeoutMs),
      // Never send the credentials to another host.
      redirect: 'error',
    })
    if (status >= 200 && status < 300) {
      const parsed = schema.safeParse(json)
      if (parsed.success) return parsed.data
      throw new ProviderError(`${method} ${path} was answered in an unknown form`, { refused: false })
    }
    const { error } = json as { error?: { code?: unknown; description?: unknown } }
    const message = `${method} ${path} was refused with ${status}: ${error?.code} ${error?.description}`
    if (isMissing(status, error?.description)) throw new MissingError(message, { refused: true })
    // A wrong key or rate limit: the same call may succeed later.
    const mayPass = status >= 500 || [401, 403, 408, 409, 429].includes(status)
    throw new ProviderError(message, { refused: !mayPass })
  }
}

/** An unknown id is answered with 404, or with 400 and one of these texts. */
const isMissing = (status: number, description: unknown): boolean =>
  status === 404 || (status === 400 && /does not exist|is not a valid id/i.test(String(description)))

async function exchange(url: string, init: RequestInit): Promise<{ status: number; json: unknown }> {
  try {
    const response = await fetch(url, init)
    const text = await response.text()
    return { status: response.status, json: text === '' ? {} : (JSON.parse(text) ?? {}) }
  } catch (error) {
    const { name, message } = error as Error
    throw new ProviderError(`The payment provider gave no answer (${name}: ${message})`, {
      refused: false,
      cause: error,
    })
  }
}

const toPayment = (entity: z.output<typeof paymentEntity>): ProviderPayment => ({
  id: entity.id,
  orderId: entity.order_id ?? null,
  status: entity.status,
  amount: entity.amount,
  currency: entity.currency,
  amountRefunded: entity.amount_refunded ?? 0,
  method: entity.method ?? null,
  failure: entity.error_description ?? null,
})

/** Only a lost dispute takes the money; `closed` means that none was taken. */
function toDispute({ id, payment_id, status }: z.output<typeof disputeEntity>): ProviderDispute {
  const known = { lost: 'lost', won: 'won', closed: 'won' } as const
  return { id, paymentId: payment_id, status: known[status as keyof typeof known] ?? 'open' }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readEvent(secret: string | undefined, body: Buffer, signature: string): ProviderEvent | undefined {
  if (secret === undefined || !sameDigest(hmacHex(secret, body), signature)) return undefined
  // A signed event in an unknown format is about something else.
  const payload = event.safeParse(parseJson(body.toString('utf8'))).data?.payload
  return {
    paymentId:
      payload?.payment?.entity.id ??
      payload?.refund?.entity.payment_id ??
      payload?.dispute?.entity.payment_id,
    orderId: payload?.payment?.entity.order_id ?? payload?.order?.entity.id,
    disputeId: payload?.dispute?.entity.id,
  }
}

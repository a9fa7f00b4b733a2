import { getDispute } from './disputes.ts'
import { refuse } from './errors.ts'
import type { Ledger } from './ledger.ts'
import { createOrder, getOrder, listOrderPayments, listOrders } from './orders.ts'
import { capturePayment, getPayment } from './payments.ts'
import { getRefund, listPaymentRefunds, requestRefund } from './refunds.ts'

/** An authenticated call of the API. */
export interface ApiRequest {
  method: string
  path: string
  query: URLSearchParams
  body: Record<string, unknown>
  /** `X-Refund-Idempotency` */
  refundKey: string | undefined
}

type Respond = (ledger: Ledger, id: string, request: ApiRequest) => unknown

const routes: [method: string, path: RegExp, respond: Respond][] = [
  ['POST', /^\/v1\/orders$/, (ledger, _id, { body }) => createOrder(ledger, body)],
  ['GET', /^\/v1\/orders$/, (ledger, _id, { query }) => listOrders(ledger, toPage(query))],
  ['GET', /^\/v1\/orders\/([^/]+)$/, (ledger, id) => getOrder(ledger, id)],
  ['GET', /^\/v1\/orders\/([^/]+)\/payments$/, (ledger, id) => listOrderPayments(ledger, id)],
  ['GET', /^\/v1\/payments\/([^/]+)$/, (ledger, id) => getPayment(ledger, id)],
  ['POST', /^\/v1\/payments\/([^/]+)\/capture$/, (ledger, id, { body }) => capturePayment(ledger, id, body)],
  [
    'POST',
    /^\/v1\/payments\/([^/]+)\/refund$/,
    (ledger, id, { body, refundKey }) => requestRefund(ledger, id, body, refundKey),
  ],
  ['GET', /^\/v1\/payments\/([^/]+)\/refunds$/, (ledger, id) => listPaymentRefunds(ledger, id)],
  ['GET', /^\/v1\/refunds\/([^/]+)$/, (ledger, id) => getRefund(ledger, id)],
  ['GET', /^\/v1\/disputes\/([^/]+)$/, (ledger, id) => getDispute(ledger, id)],
]

/** Executes a call; throws a `Refusal` if the provider would reject it. */
export function respond(ledger: Ledger, request: ApiRequest): unknown {
  for (const [method, path, answer] of routes) {
    const match = path.exec(request.path)
    if (match && method === request.method) return answer(ledger, match[1] ?? '', request)
  }
  throw refuse('The requested URL was not found on the server.')
}

function toPage(query: URLSearchParams): Parameters<typeof listOrders>[1] {
  const number = (name: string) => (query.has(name) ? Number(query.get(name)) : undefined)
  return { receipt: query.get('receipt'), count: number('count'), skip: number('skip') }
}

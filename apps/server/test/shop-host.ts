import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export const stripeKey = 'rk_test_51OrdersOfTheStandIn'

interface Required {
  apiKey: string
  /** Headers that the API requires, besides the key. */
  headers?: Readonly<Record<string, string>>
}

/** The API of a shop as far as orders are read back, on loopback; `objects` are its answers by path. */
export async function startShopHost({ apiKey, headers = {} }: Required) {
  const objects = new Map<string, object>()
  const asked: string[] = []
  const host = { url: '', objects, asked, isDown: false, close: () => {} }
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (host.isDown) return answer(503, { error: { type: 'api_error' } })
    if (request.headers.authorization !== `Bearer ${apiKey}`) return answer(401, { error: {} })
    const isMissing = Object.entries(headers).some(([name, value]) => request.headers[name] !== value)
    if (isMissing) return answer(400, { error: {} })
    const found = objects.get(request.url ?? '')
    return found ? answer(200, found) : answer(404, { success: false, error: { code: 'not_found' } })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  host.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  host.close = () => void server.close()
  return host
}

export type ShopHost = Awaited<ReturnType<typeof startShopHost>>

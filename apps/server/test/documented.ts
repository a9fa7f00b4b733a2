import { type Endpoint, type ErrorCode, errorFacts } from '@keyward/contract'
import { allEndpoints, errorsOf } from '../src/http/openapi.ts'

/** Codes that every endpoint can return and none documents. */
const undocumentedCodes: readonly ErrorCode[] = ['forwarded_refused', 'method_not_allowed']

const patterns = allEndpoints.map(({ name, endpoint }) => ({
  name,
  endpoint,
  path: new RegExp(`^${endpoint.path.replace(/:\w+/g, '[^/]+')}$`),
  isExact: !endpoint.path.includes(':'),
}))

function findEndpoint(method: string, path: string): { name: string; endpoint: Endpoint } | undefined {
  const [plain = ''] = path.split('?', 1)
  const matching = patterns.filter((one) => one.endpoint.method === method && one.path.test(plain))
  return matching.find((one) => one.isExact) ?? matching[0]
}

/** Throws if a response has a status or code that the contract does not document. */
export function checkDocumented(method: string, path: string, status: number, json: unknown): void {
  const found = findEndpoint(method, path)
  if (!found || typeof json !== 'object' || json === null) return
  const { success, code } = json as { success?: boolean; code?: ErrorCode }
  const { name, endpoint } = found
  if (success === true && status !== (endpoint.status ?? 200))
    throw new Error(`${name} succeeded with ${status}`)
  if (success !== false || code === undefined || undocumentedCodes.includes(code)) return
  if (!errorsOf(endpoint).includes(code)) throw new Error(`${name} returns the undocumented code ${code}`)
  if (status !== errorFacts(code).status) throw new Error(`${name} returns ${code} with the status ${status}`)
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Config, loopback } from '../config.ts'
import { type Problem, problem } from '../core/problem.ts'
import { sendProblem } from './errors.ts'

const hsts = 'max-age=31536000'

const forwardedHeaders = new Set([
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'cdn-loop',
])

/** Headers of every response, including those of the router itself. */
function createHeaders({ publicUrl, hstsSubdomains }: Config) {
  const isHttps = publicUrl?.startsWith('https://') ?? false
  const security = hstsSubdomains ? `${hsts}; includeSubDomains` : hsts
  return (request: FastifyRequest, reply: FastifyReply): void => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    if (isHttps) reply.header('strict-transport-security', security)
  }
}

/** Handles requests that the router cannot parse; no hooks run for them. */
export const createRouterErrors = (config: Config) => {
  const setHeaders = createHeaders(config)
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    setHeaders(request, reply)
    sendProblem(error, request, reply)
  }
}

/** Checks every request before routing; must be installed before the first route. */
export function installRequestChecks(server: FastifyInstance, config: Config): void {
  const setHeaders = createHeaders(config)
  const simulating = isSimulating(config)
  const methodsOf = collectMethods(server)
  const refuse = createRefusal(server, config)
  let mayReport = config.trustProxy === false && !simulating
  // One synchronous hook: every request of a program passes it, and an async one would cost a turn.
  server.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply)
    const isProgram = request.headers.origin !== undefined && isProgramCall(request)
    // Also with refusals, which a program in a web view could not read otherwise.
    if (isProgram) reply.headers(programHeaders)
    if (mayReport && isForwarded(request)) {
      mayReport = false
      server.log.warn(ignored)
    }
    if (simulating && !isFromHere(request, isProgram)) return refuse(request, reply, done)
    done(request.is404 ? refuseMethod(request, methodsOf) : undefined)
  })
}

/**
 * Programs that run in a web page call their endpoints from any origin. Credentials are never allowed: the session
 * travels in a header that only the page's own script can set.
 */
const programHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'content-digest, retry-after, signature, signature-input',
}

const isProgramCall = ({ routeOptions: { url } }: FastifyRequest): boolean =>
  url?.startsWith('/api/client/') === true

const ignored =
  'a request came with X-Forwarded-For or Forwarded, which TRUST_PROXY=off ignores: if a proxy sent it, all callers behind it count as one until TRUST_PROXY names the proxy'

const isForwarded = ({ headers }: FastifyRequest): boolean =>
  headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined

/** Refuses requests that did not come from this machine, browsers with a page, and logs the first refusal. */
function createRefusal(server: FastifyInstance, { basePath }: Config) {
  let isLogged = false
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const refusal = problem('forwarded_refused')
    if (!isLogged) server.log.warn({ host: request.headers.host }, refusal.message)
    isLogged = true
    const wantsPage = request.headers.accept?.includes('text/html') === true
    if (!wantsPage || request.url.startsWith(`${basePath}/api/`)) {
      done(refusal)
      return
    }
    reply.code(refusal.status).header('cache-control', 'no-store').header('vary', 'accept')
    reply.header('content-security-policy', "default-src 'none'")
    reply.type('text/html; charset=utf-8').send(refusalPage(refusal.message))
  }
}

const refusalPage = (message: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>Development instance · Keyward</title>
<h1>This is a development instance</h1>
<p>${message}</p>
<p>The page <em>Configuration</em> of the documentation describes these settings.</p>
</html>`

const isSimulating = (config: Config): boolean =>
  config.payments.mode === 'mock' || config.rateLimits === 'off'

/**
 * Some proxies add no header, but most pass on the visitor's Host. nginx does neither by default, but speaks HTTP/1.0,
 * which no browser and no SDK does.
 */
function isFromHere(request: FastifyRequest, isProgram: boolean): boolean {
  const { headers, raw } = request
  if (raw.httpVersion === '1.0') return false
  for (const name in headers) if (forwardedHeaders.has(name)) return false
  const { host, origin } = headers
  const isHere = isLoopbackHost(host)
  if (isHere && (origin === undefined || isLoopback(origin))) return true
  // Tools that pass on what shops send keep the host of the shop's address; the signature says who sent it.
  if (request.routeOptions.config.raw) return true
  return isHere && isProgram && (request.method === 'OPTIONS' || isOfApp(origin ?? ''))
}

/** The origin of a program's own window, which no web site has: `null`, `file:`, `app:`, an extension, Tauri on Windows. */
const isOfApp = (origin: string): boolean =>
  !/^https?:/i.test(origin) || /^https?:\/\/[\w-]+\.localhost(?::\d+)?$/i.test(origin)

let lastHost: string | undefined

/** Remembers the last one, because parsing it with each request takes a microsecond. */
function isLoopbackHost(host = ''): boolean {
  if (host === lastHost) return true
  if (!isLoopback(`http://${host}`)) return false
  lastHost = host
  return true
}

function isLoopback(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && loopback.test(url.hostname)
}

/** Collects the methods of each path while routes are mounted. */
function collectMethods(server: FastifyInstance): (path: string) => string[] {
  const exact = new Map<string, Set<string>>()
  const patterns: { pattern: RegExp; methods: Set<string> }[] = []
  server.addHook('onRoute', ({ url, method }) => {
    const methods = exact.get(url) ?? new Set()
    if (!exact.has(url)) {
      exact.set(url, methods)
      if (url.includes(':')) {
        patterns.push({ pattern: new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`), methods })
      }
    }
    for (const one of [method].flat()) methods.add(one)
  })
  return (path) => {
    const matching = patterns.filter(({ pattern }) => pattern.test(path))
    const found = [exact.get(path), ...matching.map(({ methods }) => methods)]
    return [...new Set(found.flatMap((methods) => [...(methods ?? [])]))].sort()
  }
}

/** Rejects before the body is read; GET and HEAD of unknown paths go to the page handler, which sends the 404 page. */
function refuseMethod(request: FastifyRequest, methodsOf: (path: string) => string[]): Problem | undefined {
  const [path = ''] = request.url.split('?', 1)
  const allow = methodsOf(path)
  if (allow.length > 0) return problem('method_not_allowed', { allow: allow.join(', ') })
  return request.method === 'GET' || request.method === 'HEAD' ? undefined : problem('not_found')
}

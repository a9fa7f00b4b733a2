import { randomUUID } from 'node:crypto'
import { limits } from '@keyward/contract'
import fastify, { type FastifyInstance, LogController } from 'fastify'
import type { Config } from '../config.ts'
import type { LogWriter } from '../core/log-writer.ts'
import { installConnections, type Timeouts } from './connections.ts'
import { refuseBrokenRequest } from './errors.ts'
import { loggerOptions } from './logging.ts'
import { createRouterErrors } from './request-checks.ts'

export interface ServerOptions {
  config: Config
  logLevel?: string
  /** Defaults to standard output. */
  log?: Pick<LogWriter, 'write'> & Partial<Pick<LogWriter, 'droppedLines'>>
  timeouts?: Timeouts
}

const headerLimitBytes = 16_384
/** Node enforces its timeouts only once per `checkEveryMs`. */
const defaultTimeouts: Timeouts = {
  requestMs: 30_000,
  headersMs: 15_000,
  keepAliveMs: 72_000,
  checkEveryMs: 2_000,
}

/** The web server without a route. */
export function createServer(options: ServerOptions): FastifyInstance {
  const timeouts = options.timeouts ?? defaultTimeouts
  const server = fastify({
    bodyLimit: limits.bodyBytesMax,
    trustProxy: trusted(options.config.trustProxy),
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    http: {
      maxHeaderSize: headerLimitBytes,
      optimizeEmptyRequests: true,
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: timeouts.checkEveryMs,
    },
    genReqId: () => randomUUID(),
    rewriteUrl: (request) => withoutBase(request.url ?? '/', options.config.basePath),
    logController: new LogController({ disableRequestLogging: true }),
    logger: loggerOptions(options.logLevel ?? 'info', options.log),
    routerOptions: { maxParamLength: 200 },
    // Zod checks requests against the contract: Fastify need not load its own compilers of schemas.
    schemaController: {
      compilersFactory: { buildValidator: () => noSchema, buildSerializer: () => noSchema },
    },
    frameworkErrors: createRouterErrors(options.config),
    clientErrorHandler: refuseBrokenRequest,
  })
  server.decorateRequest('failureCode', undefined)
  server.decorateRequest('account', undefined)
  installConnections(server, timeouts)
  return server
}

/** Removes the base path, unless the proxy in front has already removed it. */
function withoutBase(url: string, basePath: string): string {
  if (basePath === '' || !url.startsWith(basePath)) return url
  const rest = url.slice(basePath.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : url
}

/** Which proxies to trust: a number of hops, counted from this server, or a list of networks. */
const trusted = (trustProxy: Config['trustProxy']) =>
  typeof trustProxy === 'number' ? (_address: string, hop: number) => hop < trustProxy : trustProxy

const noSchema = (): never => {
  throw new Error('routes have no schemas of Fastify')
}

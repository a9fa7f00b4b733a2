import { randomUUID } from 'node:crypto'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  LogController,
} from 'fastify'
import type { Config } from '../config.ts'
import type { LogWriter } from '../core/log-writer.ts'
import { installConnections, type Timeouts } from './connections.ts'
import { refuseBrokenRequest } from './errors.ts'
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

/**
 * The web server without a route. Everything of Fastify's own that this server does without is switched off here: the steps of
 * `pipe.ts` do it.
 */
export function createServer(options: ServerOptions): FastifyInstance {
  const timeouts = options.timeouts ?? defaultTimeouts
  const server = fastify({
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
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: createRouterErrors(options.config),
    clientErrorHandler: refuseBrokenRequest,
    logger: loggerOptions(options.logLevel ?? 'info', options.log),
    // Its two lines for each request: `app.ts` writes one.
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for each request, until the request logs something.
    childLoggerFactory: (parent, bindings) => new LazyLogger(parent, bindings),
    // Its compilers of JSON schemas: the contract is written in Zod.
    schemaController: {
      compilersFactory: { buildValidator: () => noSchema, buildSerializer: () => noSchema },
    },
  })
  readNoBodies(server)
  installConnections(server, timeouts)
  return server
}

/** Fastify's parsers of bodies, whatever the method: `body.ts` reads them once the caller may send one. */
export function readNoBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  for (const method of ['DELETE', 'OPTIONS', 'PATCH', 'POST', 'PUT'])
    server.addHttpMethod(method, { hasBody: false, overrideExisting: true })
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

const secrets = ['authorization', 'cookie', 'token', 'password', 'secret', 'appSecret', 'session']

/** Logger options; removes secrets by name, three levels deep. */
export function loggerOptions(level: string, stream: Pick<LogWriter, 'write'> | undefined) {
  return {
    level,
    redact: {
      paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      censor: '[redacted]',
    },
    serializers: { err: toLoggedError },
    ...(stream ? { stream } : {}),
  } satisfies FastifyServerOptions['logger']
}

/** Logs only name, message, code and stack: other properties, such as query parameters, may hold secrets. */
function toLoggedError(error: Error & { code?: string }) {
  return { type: error.name, code: error.code, message: error.message, stack: error.stack ?? '' }
}

type Method = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

/** Creates the child logger with its first line, because a program's check logs nothing. */
export class LazyLogger {
  readonly #parent: FastifyBaseLogger
  readonly #bindings: Record<string, unknown>
  #made: FastifyBaseLogger | undefined

  constructor(parent: FastifyBaseLogger, bindings: Record<string, unknown>) {
    this.#parent = parent
    this.#bindings = bindings
  }

  get level() {
    return this.#parent.level
  }

  child(bindings: Record<string, unknown>): FastifyBaseLogger {
    return this.#logger().child(bindings)
  }

  fatal(...line: unknown[]): void {
    this.#write('fatal', line)
  }

  error(...line: unknown[]): void {
    this.#write('error', line)
  }

  warn(...line: unknown[]): void {
    this.#write('warn', line)
  }

  info(...line: unknown[]): void {
    this.#write('info', line)
  }

  debug(...line: unknown[]): void {
    this.#write('debug', line)
  }

  trace(...line: unknown[]): void {
    this.#write('trace', line)
  }

  silent(): void {}

  #write(method: Method, line: unknown[]): void {
    const logger = this.#logger()
    ;(logger[method] as (...line: unknown[]) => void).apply(logger, line)
  }

  #logger(): FastifyBaseLogger {
    this.#made ??= this.#parent.child(this.#bindings)
    return this.#made
  }
}

/** Logs each request of a scope. */
export function installRequestLog(scope: FastifyInstance): void {
  // These lines contain no secret, and searching them for one would take 15 times as long as writing them.
  const requestLog = scope.log.child({}, { redact: [] })
  scope.addHook('onResponse', async (request, reply) => {
    const { id: reqId, method, routeOptions, ip, failureCode: code, account } = request
    const ms = Math.round(reply.elapsedTime)
    const { url } = routeOptions
    requestLog.info({ reqId, method, url, status: reply.statusCode, code, account, ms, ip }, 'request')
  })
}

import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'
import helmet from '@fastify/helmet'
import staticFiles from '@fastify/static'
import { consolePaths, customerPagePath, itemPaths } from '@keyward/contract/console-paths'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { problem } from '../core/problem.ts'
import { answerProblem } from './errors.ts'
import { readReleased, releasesUrl } from './sdk-files.ts'

const contentPolicy = {
  defaultSrc: ["'self'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  objectSrc: ["'none'"],
  baseUri: ["'self'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
}

const [checkout, providerApi] = ['https://checkout.razorpay.com', 'https://api.razorpay.com']

/** Sources for the page that opens the provider's checkout: its script, frame, and the popups of banks. */
const checkoutPage = {
  helmet: {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        ...contentPolicy,
        scriptSrc: ["'self'", checkout],
        frameSrc: [checkout, providerApi],
        connectSrc: ["'self'", checkout, providerApi, 'https://lumberjack.razorpay.com'],
        imgSrc: ["'self'", 'data:', 'https://*.razorpay.com'],
        formAction: ["'self'", providerApi],
      },
    },
    crossOriginOpenerPolicy: { policy: 'same-origin-allow-popups' as const },
  },
}

/** The console shows the page of customers in a frame of its own. */
const framedPage = {
  helmet: {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { ...contentPolicy, frameAncestors: ["'self'"] },
    },
    xFrameOptions: { action: 'sameorigin' as const },
  },
}

/** Serves the console and the API reference: everything outside of `/api`. */
export async function installPages(
  server: FastifyInstance,
  config: Config,
  consoleDir: string,
): Promise<void> {
  await server.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: contentPolicy },
    // `installCommon` sets it on every response.
    strictTransportSecurity: false,
    referrerPolicy: { policy: 'strict-origin-when-cross-origin' },
    xFrameOptions: { action: 'deny' },
  })
  const docs = once(async () => (await import('./docs-page.ts')).renderDocs(config.basePath))
  const openApi = once(async () =>
    JSON.stringify((await import('./openapi.ts')).buildOpenApi(config.publicUrl)),
  )
  server.get('/docs', async (_request, reply) => reply.type('text/html; charset=utf-8').send(await docs()))
  server.get('/docs/style.css', async (_request, reply) =>
    reply.type('text/css; charset=utf-8').send((await import('./docs-frame.ts')).docsStyle),
  )
  for (const name of [
    'api-keys',
    'automation',
    'client-protocol',
    'compatibility',
    'events',
    'licensing',
    'migration',
    'shops',
  ] as const) {
    const guide = once(async () => (await import('./guide-page.ts')).renderGuide(name, config.basePath))
    server.get(`/docs/${name}`, async (_request, reply) =>
      reply.type('text/html; charset=utf-8').send(await guide()),
    )
  }
  await installSdks(server, config)
  server.get('/api/openapi.json', async (_request, reply) =>
    reply.type('application/json').send(await openApi()),
  )
  await installConsole(server, config, consoleDir)
}

const sdkTypes = new Map([
  // Browsers show plain text, but download Markdown.
  ['.md', 'text/plain; charset=utf-8'],
  ['.zip', 'application/zip'],
])

/** Serves the released SDKs; a file of a version never changes. */
async function installSdks(server: FastifyInstance, config: Config): Promise<void> {
  server.get<{ Params: { version: string; name: string } }>('/sdk/:version/:name', async (request, reply) => {
    const { version, name } = request.params
    const bytes = await readReleased(version, name)
    if (!bytes) throw problem('not_found')
    if (!name.endsWith('.md')) reply.header('content-disposition', `attachment; filename="${name}"`)
    return reply
      .header('cache-control', 'public, max-age=31536000, immutable')
      .type(sdkTypes.get(extname(name)) ?? 'application/octet-stream')
      .send(bytes)
  })
  server.get('/sdk/SHA256SUMS', async (_request, reply) =>
    reply
      .header('content-disposition', 'attachment; filename="SHA256SUMS"')
      .type('application/octet-stream')
      .send(await readFile(new URL('SHA256SUMS', releasesUrl))),
  )
  server.get('/sdk', (_request, reply) => reply.redirect(`${config.basePath}/sdk/`, 301))
  server.get('/sdk/', async (request, reply) => {
    const { renderSdks } = await import('./sdk-page.ts')
    const address = config.publicUrl ?? `${request.protocol}://${request.host}${config.basePath}`
    return reply.type('text/html; charset=utf-8').send(renderSdks(config.basePath, address))
  })
}

/** Makes something for its first request instead of at the start. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

const compress = promisify(brotliCompress)

/** A page, plain and compressed. */
interface Page {
  html: string
  brotli: () => Promise<Buffer>
}

/** Reads a page of the console and prefixes its links and files with the base path. */
function readPage(path: string, basePath: string): Page | undefined {
  if (!existsSync(path)) return undefined
  const html = readFileSync(path, 'utf8')
    .replace('<html ', `<html data-base="${basePath}" `)
    .replace(/ (href|src)="\.?\/(?!\/)/g, (_, attribute) => ` ${attribute}="${basePath}/`)
  return { html, brotli: once(() => compress(html)) }
}

async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  page: Page | undefined,
) {
  if (page === undefined)
    return reply.code(503).type('text/plain').send('The console is not built. Run npm start.')
  reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('vary', 'accept-encoding')
  const takesBrotli = /\bbr\b/.test(String(request.headers['accept-encoding']))
  return takesBrotli
    ? reply.header('content-encoding', 'br').send(await page.brotli())
    : reply.send(page.html)
}

async function installConsole(server: FastifyInstance, config: Config, consoleDir: string): Promise<void> {
  const index = readPage(join(consoleDir, 'index.html'), config.basePath)
  if (index !== undefined) {
    await server.register(staticFiles, {
      root: consoleDir,
      index: false,
      wildcard: false,
      preCompressed: true,
      globIgnore: ['**/*.br', '**/*.gz', '**/.*', '**/.*/**', 'pages/**'],
      setHeaders: (reply, path) => {
        const isHashed = path.includes('/assets/')
        reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
      },
    })
  }
  for (const path of Object.values(consolePaths)) {
    const name = path === '/' ? 'index' : path.slice(1)
    const page = readPage(join(consoleDir, 'pages', `${name}.html`), config.basePath) ?? index
    const opensCheckout = path === '/subscription' && config.payments.mode === 'razorpay'
    server.get(path, opensCheckout ? checkoutPage : {}, (request, reply) =>
      sendPage(request, reply, 200, page),
    )
  }
  for (const [name, path] of Object.entries(itemPaths)) {
    const page = readPage(join(consoleDir, 'pages', 'items', `${name}.html`), config.basePath) ?? index
    server.get(path, (request, reply) => sendPage(request, reply, 200, page))
  }
  const customerPage = readPage(join(consoleDir, 'pages', 'customer.html'), config.basePath)
  server.get(customerPagePath, framedPage, (request, reply) => sendPage(request, reply, 200, customerPage))
  const notFound = readPage(join(consoleDir, 'pages', 'not-found.html'), config.basePath) ?? index
  server.setNotFoundHandler((request, reply) => {
    const wantsPage = request.method === 'GET' && !/^\/(api|assets|sdk)(\/|$)/.test(request.url)
    return wantsPage
      ? sendPage(request, reply, 404, notFound)
      : reply.send(answerProblem(problem('not_found'), request, reply))
  })
}

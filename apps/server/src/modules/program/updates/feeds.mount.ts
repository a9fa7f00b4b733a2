import { createHash } from 'node:crypto'
import { type Artifact, limits } from '@keyward/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '../../../core/crypto.ts'
import { visitorOf } from '../../../core/networks/caller.ts'
import { Problem, problem } from '../../../core/problem.ts'
import { sendProblem } from '../../../http/errors.ts'
import { bearerToken } from '../../../http/pipe.ts'
import { covers, isOffered, type ListedRelease, updatesOf } from '../../releases/catalog.rules.ts'
import type { ReleaseFiles } from '../../releases/kept-releases.ts'
import { openSession } from '../checks/session.ts'
import type { AppFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { appVerdict } from '../verdict/verdict.ts'
import {
  electronFeed,
  type Feed,
  type FeedEntry,
  isPackage,
  jsonFeed,
  sparkleFeed,
  tauriFeed,
  velopackFeed,
} from './feed-formats.ts'
import { coverageOfDevice, coverageOfKey, readCoverage } from './updates.ts'

type Values = Record<string, string | undefined>

/** The feeds below `/api/updates/{appId}/`: the path of each, and what it reads of path and query. */
const feeds: Record<string, (path: Values, query: Values) => Feed | undefined> = {
  'electron/:file': ({ file = '' }, { version }) => electronFeed(file, version),
  'tauri/:channel/:target/:arch/:version': ({ channel = '', target = '', arch = '', version = '' }) =>
    tauriFeed(channel, { platform: target, architecture: arch }, version),
  'sparkle/:file': ({ file = '' }, { version }) => {
    const channel = /^([a-z0-9-]{1,20})\.xml$/.exec(file)?.[1]
    return channel === undefined ? undefined : sparkleFeed(channel, version)
  },
  'velopack/:file': ({ file = '' }, { os, arch, localVersion }) => {
    const target = { ...(os && { platform: os }), ...(arch && { architecture: arch }) }
    const channel = /^releases\.([a-z0-9-]{1,20})\.json$/.exec(file)?.[1]
    return channel === undefined ? undefined : velopackFeed(channel, target, localVersion)
  },
  'json/:channel': ({ channel = '' }, { version }) => jsonFeed(channel, version),
}

/** A name that is sent twice is no name of anything. */
const textsOf = (query: Record<string, string | string[]>): Values =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))

/** How many releases a list names, and what they take, unless the first one takes more: an updater needs the newest. */
const listedMost = 100
const listedBytesMost = 128 * 1024

/** What may be read, and by whom. */
interface Access {
  /** Releases until then, and all security fixes; null for all. */
  until: number | null
  isPublic: boolean
  /** The version of the program, if its session says it. */
  version: string | null
}

/** Mounts what existing updaters read. `refuseFlood` returns an error for an address that sends too many requests. */
export function mountFeeds(
  server: FastifyInstance,
  deps: ProgramDeps,
  refuseFlood: (request: FastifyRequest) => Error | undefined,
): void {
  const written = new WrittenFeeds()
  const answer = async (request: FastifyRequest, reply: FastifyReply, toFeed: (typeof feeds)[string]) => {
    const flood = refuseFlood(request)
    if (flood) throw flood
    reply.header('cache-control', 'private, no-store')
    const path = request.params as Values
    const app = await findApp(deps, path.appId ?? '')
    const access = await accessOf(deps, app, request)
    if (access.isPublic) {
      reply.headers({ 'cache-control': 'no-cache', vary: 'authorization, keyward-license' })
    }
    const feed = toFeed(path, textsOf(request.query as Record<string, string | string[]>))
    if (!feed) return sendPackage(deps, app, access, { file: path.file ?? '', reply })
    const wanted = { channel: feed.channel, version: feed.version ?? access.version }
    const releases = updatesOf(app.releases, wanted, deps.ctx.clock.now()).filter((one) =>
      covers(one, access.until),
    )
    const { text, tag } = await written.get(deps, app, { feed, releases })
    if (text.length === 0) {
      if (request.routeOptions.url?.includes('/tauri/')) return reply.code(204).send()
      throw problem('not_found')
    }
    if (access.isPublic) {
      reply.header('etag', tag)
      if (request.headers['if-none-match'] === tag) return reply.code(304).send()
    }
    return reply.type(feed.type).send(text)
  }
  for (const [path, toFeed] of Object.entries(feeds)) {
    server.get(`/api/updates/:appId/${path}`, (request, reply) => {
      answer(request, reply, toFeed).catch((error) => sendProblem(error, request, reply))
    })
  }
}

/** The app, while its programs may run. */
async function findApp({ reads }: ProgramDeps, name: string): Promise<AppFacts> {
  const app = /^\w{1,64}$/.test(name) ? await reads.app(name) : undefined
  if (!app || appVerdict(app)) throw problem('not_found')
  return app
}

/** A license gives what it covers; without a valid one everything is public, or nothing. */
async function accessOf(deps: ProgramDeps, app: AppFacts, request: FastifyRequest): Promise<Access> {
  const found = await licensedAccess(deps, app, request).catch((error: unknown) => {
    if (error instanceof Problem && error.status >= 400 && error.status < 500 && error.status !== 429)
      return undefined
    throw error
  })
  if (found) return { ...found, isPublic: false }
  if (app.publicUpdates) return { until: null, isPublic: true, version: null }
  throw problem('not_found')
}

async function licensedAccess(
  deps: ProgramDeps,
  app: AppFacts,
  request: FastifyRequest,
): Promise<Omit<Access, 'isPublic'> | undefined> {
  const address = visitorOf(request.ip)
  const token = bearerToken(request)
  if (token?.startsWith('kwd_')) {
    return { ...(await coverageOfDevice(deps, app, { token, address })), version: null }
  }
  if (token !== undefined) {
    const stored = await deps.reads.session(sha256(token))
    if (stored?.app.id !== app.id) return undefined
    const session = openSession(app, stored, deps.ctx.clock.now())
    return { ...(await readCoverage(deps, session, { address })), version: session.version }
  }
  const licenseKey = request.headers['keyward-license']
  if (typeof licenseKey !== 'string' || licenseKey.trim() === '' || licenseKey.length > limits.pastedKeyMax) {
    return undefined
  }
  return { ...(await coverageOfKey(deps, app, { licenseKey, address })), version: null }
}

/** Leads to a package that a list of Velopack names. */
async function sendPackage(
  { files, ctx }: ProgramDeps,
  app: AppFacts,
  { until }: Access,
  { file, reply }: { file: string; reply: FastifyReply },
): Promise<FastifyReply> {
  const kept = await files.get(app)
  for (const release of app.releases.newest) {
    if (!isOffered(release, ctx.clock.now()) || !covers(release, until)) continue
    const found = kept.get(release.id)?.artifacts.find((one) => isPackage(one) && one.name === file)
    if (found) return reply.redirect(found.url, 302)
  }
  throw problem('not_found')
}

interface Written {
  text: Buffer
  tag: string
}

const keptBytesMost = 32 * 1024 * 1024
const keptMost = 2000

/** Keeps what was written, by what it was written from. */
class WrittenFeeds {
  readonly #kept = new Map<string, Written>()
  #bytes = 0

  async get(
    { files }: Pick<ProgramDeps, 'files'>,
    app: AppFacts,
    { feed, releases }: { feed: Feed; releases: readonly ListedRelease[] },
  ): Promise<Written> {
    const ids = releases.map(({ id }) => id)
    const key = sha256(JSON.stringify([app.releasesVersion, feed.key, ids]))
    const known = this.#kept.get(key)
    if (known) return known
    const items = itemsOf(await files.get(app), { feed, releases })
    const text = Buffer.from(feed.frame ? feed.frame(items) : items.join(''))
    const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
    const written = { text, tag }
    // An empty answer is not cached: requests with invented names would push out real feeds.
    if (items.length === 0) return written
    if (this.#kept.size >= keptMost || this.#bytes + text.length > keptBytesMost) {
      this.#kept.clear()
      this.#bytes = 0
    }
    this.#kept.set(key, written)
    this.#bytes += text.length
    return written
  }
}

const targetOf = ({ platform, architecture }: Artifact): string => `${platform}/${architecture}`

/** The newest releases; then, in as many bytes again, those of targets that none before is for, without notes. */
function itemsOf(
  files: ReleaseFiles,
  { feed, releases }: { feed: Feed; releases: readonly ListedRelease[] },
): string[] {
  const items: string[] = []
  const targets = new Set<string>()
  let bytesLeft = listedBytesMost
  const most = feed.frame ? listedMost : 1
  const entryOf = (release: ListedRelease): FeedEntry => {
    const { artifacts = [], notes = null, build = null } = files.get(release.id) ?? {}
    return { release, build, notes, artifacts: feed.pick(artifacts) }
  }
  const add = (entry: FeedEntry): boolean => {
    const item = feed.item(entry)
    bytesLeft -= Buffer.byteLength(item)
    if (bytesLeft < 0 && items.length > 0) return false
    if (item !== '') items.push(item)
    for (const one of entry.artifacts) targets.add(targetOf(one))
    return true
  }
  const end = releases.findIndex((release) => items.length === most || !add(entryOf(release)))
  if (end < 0 || !feed.frame) return items
  bytesLeft = listedBytesMost
  for (const release of releases.slice(end)) {
    const entry = entryOf(release)
    const artifacts = entry.artifacts.filter((one) => !targets.has(targetOf(one)))
    if (artifacts.length > 0 && !add({ ...entry, notes: null, artifacts })) break
  }
  return items
}

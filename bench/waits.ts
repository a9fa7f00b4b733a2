import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '@keyward/contract'
import type { LoadRequest } from 'autocannon'
import { Caller } from './http.ts'
import { median, percentile } from './load.ts'
import { diskWrites, Probe, requests } from './probe.ts'
import { startBare } from './processes.ts'
import type { Seeded } from './seed.ts'
import { importedRows, type World } from './world.ts'

/** The times of sequential calls, and the longest waits of probes that run meanwhile. */
export interface WaitResult {
  name: string
  p50: number
  p99: number
  max: number
  /** Median over the rounds of the longest wait per round: caused by this call. */
  wait: number
  /** The longest wait of a probe at a bare server: caused by the machine. */
  bareWait: number
  /** A probe that writes from another account. */
  writers?: Times
  /** A probe that writes to the same disk without a server, at the same time. */
  disk?: Times
}

/** Over all rounds, and the longest like `wait`. */
interface Times {
  p50: number
  p99: number
  p999: number
  wait: number
}

interface Options {
  rounds: number
  calls: number
  /** A folder where a probe writes to files; a further probe then writes from another account. */
  probeFolder?: string
}

interface Case {
  name: string
  request?: LoadRequest
  /** Without a request, the probes run alone for so long. */
  alone?: number
}

/** The probes alone. */
export const nothing: Case = { name: 'nothing', alone: 1000 }

/** The probes alone for as long as a call that was measured once. */
export const nothingFor = ({ name, max }: WaitResult): Case => ({
  name: `nothing, for as long as ${name}`,
  alone: max,
})

export async function measureWaits(
  baseUrl: string,
  world: World,
  cases: Case[],
  { rounds, calls, probeFolder }: Options,
): Promise<WaitResult[]> {
  const [session] = world.session
  if (!session) throw new Error('no session to probe with')
  const caller = new Caller(baseUrl)
  const bare = await startBare({ [session.path]: await caller.send(session) })
  const probed = [requests(baseUrl, session), requests(bare.baseUrl, session)]
  if (probeFolder !== undefined) probed.push(requests(baseUrl, world.otherWrite), diskWrites(probeFolder))
  const probes = probed.map((one) => new Probe(one))
  const results = cases.map(({ name }) => ({ name, times: [] as number[], probed: [] as number[][][] }))
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const [at, { request, alone }] of cases.entries()) {
        if (round === 0 && calls > 1 && request) await send(caller, request)
        await Promise.all(probes.map((probe) => probe.takeTimes()))
        for (let call = 0; call < calls; call += 1) {
          const started = performance.now()
          await (request ? send(caller, request) : sleep(alone))
          results[at]?.times.push(performance.now() - started)
        }
        results[at]?.probed.push(await Promise.all(probes.map((probe) => probe.takeTimes())))
      }
    }
  } finally {
    for (const probe of probes) await probe.stop()
    caller.close()
    await bare.stop()
  }
  return results.map(({ name, times, probed }) => {
    const longest = (probe: number) => median(probed.map((round) => highest(round[probe] ?? [])))
    const timesOf = (probe: number): Times => {
      const all = probed.flatMap((round) => round[probe] ?? [])
      const [p50 = 0, p99 = 0, p999 = 0] = [0.5, 0.99, 0.999].map((share) => percentile(all, share))
      return { p50, p99, p999, wait: longest(probe) }
    }
    return {
      name,
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      max: Math.max(...times),
      wait: longest(0),
      bareWait: longest(1),
      ...(probeFolder !== undefined && { writers: timesOf(2), disk: timesOf(3) }),
    }
  })
}

const highest = (times: readonly number[]): number => times.reduce((most, time) => Math.max(most, time), 0)

const repetitionsMax = 5

/**
 * Does not parse the answer: for a large one, that would make the probes in this process wait. A database that stood
 * still for seconds must not end a long run: the call is reported and repeated.
 */
async function send(caller: Caller, request: LoadRequest): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const { status, body } = await caller.send(request)
    if (status < 300) return
    const what = `${request.method} ${request.path} returned ${status}: ${body}`
    if (status !== 503 || attempt >= repetitionsMax) throw new Error(what)
    console.log(what)
    await sleep(1000)
  }
}

const exportedMax = 10_000

/** The export of the largest app that has at most so many licenses, and an import into it. */
export function fileCases(world: World, seeded: Seeded, licenses: number) {
  const app = seeded.apps.find(({ share }) => share * licenses <= exportedMax) ?? seeded.apps.at(-1)
  if (!app) throw new Error('no app was seeded')
  const rows = Math.round(app.share * licenses).toLocaleString('en-US')
  const imported = importedRows.toLocaleString('en-US')
  return [
    { name: `GET /licenses/export, ${rows} licenses`, request: world.exportLicenses(app.appId) },
    { name: `POST /licenses/import, ${imported} rows`, request: world.importLicenses(app.appId) },
  ]
}

/** Deletions of the licenses of one app, and of another app with all that belongs to it. */
export function deletionCases(world: World, seeded: Seeded, licenses: number) {
  const [, , , first, second] = seeded.apps
  if (!first || !second) throw new Error('too few apps were seeded')
  const size = ({ share }: { share: number }) => Math.round(share * licenses).toLocaleString('en-US')
  return [
    { name: `DELETE /licenses of an app with ${size(first)}`, request: world.deleteLicensesOf(first.appId) },
    { name: `DELETE /apps, an app with ${size(second)} licenses`, request: world.deleteApp(second.appId) },
  ]
}

/** Changes of as many licenses as one request can name. */
export async function changeCases(baseUrl: string, world: World) {
  const caller = new Caller(baseUrl)
  const { licenses } = await caller.call<{ licenses: { _id: string }[] }>(
    world.list(`limit=${limits.bulkMax}`),
  )
  caller.close()
  const ids = licenses.map(({ _id }) => _id)
  const changed = `${ids.length} licenses`
  return [
    { name: 'POST /licenses, 100 in one request', request: world.createHundred },
    {
      name: `POST /licenses/bulk, extend ${changed}`,
      request: world.change({ action: 'extend', ids, days: 1 }),
    },
    { name: `POST /licenses/bulk, ban ${changed}`, request: world.change({ action: 'ban', ids }) },
    { name: `POST /licenses/bulk, unban ${changed}`, request: world.change({ action: 'unban', ids }) },
  ]
}

/** Every query that a console sends to the list, and expensive ones that anyone could send. */
export async function listCases(baseUrl: string, world: World, seeded: Seeded) {
  const caller = new Caller(baseUrl)
  const pagesOf = async (filter: string) => {
    const { pagination } = await caller.call<{ pagination: { pages: number } }>(world.list(filter))
    return Math.max(1, pagination.pages)
  }
  const cases = []
  const pages = await pagesOf('')
  for (const [name, page] of Object.entries({ first: 1, middle: Math.ceil(pages / 2), last: pages })) {
    cases.push({ name: `${name} page`, query: `page=${page}` })
  }
  for (const status of ['unused', 'active', 'expired', 'banned']) {
    const last = await pagesOf(`status=${status}`)
    cases.push({ name: `${status}, first page`, query: `status=${status}` })
    cases.push({ name: `${status}, middle page`, query: `status=${status}&page=${Math.ceil(last / 2)}` })
    cases.push({ name: `${status}, last page`, query: `status=${status}&page=${last}` })
  }
  const key = seeded.keys[7] ?? ''
  const plain = key.replaceAll('-', '')
  const [app] = seeded.apps.toReversed()
  const searches = {
    '3 letters inside a key': plain.slice(6, 9),
    '5 letters inside a key': plain.slice(6, 11),
    '10 letters inside a key': plain.slice(6, 16),
    'part of a key with hyphens': key.slice(3, 15),
    'a whole key': key,
    'the first 2 letters of a key': plain.slice(0, 2),
    'a user name': seeded.users[7] ?? '',
    'a part of many user names': 'user',
    'no match': 'zzqqxxzzqq',
    'a common note': seeded.commonNote,
    'words of a common note, reversed': seeded.commonNote.split(' ').toReversed().join(' '),
  }
  for (const [name, text] of Object.entries(searches)) {
    cases.push({ name: `search: ${name}`, query: `search=${encodeURIComponent(text)}` })
  }
  cases.push({
    name: 'search: a common note, in the smallest app',
    query: `app=${app?.appId}&search=${encodeURIComponent(seeded.commonNote)}`,
  })
  cases.push({
    name: 'search: a common note, banned',
    query: `status=banned&search=${encodeURIComponent(seeded.commonNote)}`,
  })
  cases.push({
    name: 'search: a common note, expired',
    query: `status=expired&search=${encodeURIComponent(seeded.commonNote)}`,
  })
  caller.close()
  return cases.map(({ name, query }) => ({ name, request: world.list(query) }))
}

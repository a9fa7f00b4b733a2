import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadRequest } from 'autocannon'
import { Caller } from './http.ts'
import { percentile } from './load.ts'
import { startServer } from './processes.ts'
import { type Accounts, seedAccounts } from './seed-accounts.ts'

/** How long another account's check takes while one account repeats a request over several connections. */
export interface FairnessResult {
  name: string
  connections: number
  /** Responses to the busy account: successes, and rejections by the gate. */
  answered: number
  refused: number
  p50: number
  p99: number
  max: number
  /** Median and p99 relative to the same check on an idle server, in the same run. */
  medianRatio: number
  p99Ratio: number
}

const pauseMs = 2
export const signIns = 'POST /auth/login, many concurrent sign-ins'

export async function measureFairness(seconds: number): Promise<FairnessResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'keyward-bench-fairness-'))
  try {
    const accounts = await seedAccounts(folder)
    const server = await startServer({ DATA_DIR: folder })
    try {
      return await measure(server.baseUrl, accounts, seconds)
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(baseUrl: string, accounts: Accounts, seconds: number): Promise<FairnessResult[]> {
  const { check, cases } = await prepareCases(baseUrl, accounts)
  await checksDuring(baseUrl, check, sleep(500))
  const baseline = await checksDuring(baseUrl, check, sleep(seconds * 1000))
  const results: FairnessResult[] = []
  for (const { name, connections, request } of cases) {
    const busy = keepBusy(baseUrl, request, connections, seconds)
    const times = await checksDuring(baseUrl, check, busy)
    const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)]
    results.push({
      name,
      connections,
      ...(await busy),
      p50,
      p99,
      max: Math.max(...times),
      medianRatio: p50 / percentile(baseline, 0.5),
      p99Ratio: p99 / percentile(baseline, 0.99),
    })
  }
  return [
    {
      name: 'idle server',
      connections: 0,
      answered: 0,
      refused: 0,
      p50: percentile(baseline, 0.5),
      p99: percentile(baseline, 0.99),
      max: Math.max(...baseline),
      medianRatio: 1,
      p99Ratio: 1,
    },
    ...results,
  ]
}

async function checksDuring(baseUrl: string, check: LoadRequest, work: Promise<unknown>): Promise<number[]> {
  const caller = new Caller(baseUrl)
  const times: number[] = []
  let over = false
  void work.finally(() => {
    over = true
  })
  while (!over) {
    const started = performance.now()
    await caller.call(check)
    times.push(performance.now() - started)
    await sleep(pauseMs)
  }
  caller.close()
  return times
}

async function keepBusy(baseUrl: string, request: LoadRequest, connections: number, seconds: number) {
  const until = performance.now() + seconds * 1000
  const counts = { answered: 0, refused: 0 }
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const caller = new Caller(baseUrl)
      while (performance.now() < until) {
        const { status, body } = await caller.send(request)
        if (status === 429) {
          counts.refused += 1
          await sleep(10)
        } else if (status < 300) counts.answered += 1
        else throw new Error(`${request.method} ${request.path} returned ${status}: ${body}`)
      }
      caller.close()
    }),
  )
  return counts
}

async function prepareCases(baseUrl: string, { busy, other }: Accounts) {
  const caller = new Caller(baseUrl)
  const json = { 'content-type': 'application/json' }
  const post = (path: string, body: object, headers = {}): LoadRequest => ({
    method: 'POST',
    path: `/api${path}`,
    headers: { ...json, ...headers },
    body: JSON.stringify(body),
  })
  const signIn = async (path: string, email: string) => {
    const { token } = await caller.call<{ token: string }>(post(path, { email, password: busy.password }))
    return { authorization: `Bearer ${token}` }
  }
  const owner = await signIn('/auth/login', busy.email)
  const reseller = await signIn('/resellers/auth/login', busy.resellerEmail)
  const { session } = await caller.call<{ session: string }>(
    post('/client/init', { appId: other.appId, secret: other.secret, version: '1.0.0' }),
  )
  const program = { authorization: `Bearer ${session}`, 'keyward-app': other.appId }
  await caller.call(post('/client/license', { licenseKey: other.licenseKey }, program))
  caller.close()
  const get = (path: string, headers: Record<string, string>): LoadRequest => ({
    method: 'GET',
    path: `/api${path}`,
    headers,
  })
  const rows = Array.from({ length: 4900 }, (_, at) => `2036-01-01,${'n'.repeat(185)}${at}`)
  const csv = ['expiresAt,note', ...rows].join('\n')
  const dryRun = { app: busy.appId, csv, dryRun: true }
  const cases = [
    {
      name: signIns,
      connections: 100,
      request: post('/auth/login', { email: busy.email, password: busy.password }),
    },
    {
      name: 'GET /licenses/export, 3,000 rows',
      connections: 30,
      request: get(`/licenses/export?app=${busy.appId}`, owner),
    },
    { name: 'GET /apps, 1,501 apps', connections: 10, request: get('/apps', owner) },
    { name: 'GET /resellers, 2,000 resellers', connections: 10, request: get('/resellers', owner) },
    { name: 'GET /auth/profile', connections: 10, request: get('/auth/profile', owner) },
    {
      name: 'GET /resellers/dashboard/data',
      connections: 10,
      request: get('/resellers/dashboard/data', owner),
    },
    { name: 'GET /licenses?limit=200', connections: 10, request: get('/licenses?limit=200', owner) },
    {
      name: 'GET /resellers/auth/licenses, 10,000 rows',
      connections: 1,
      request: get('/resellers/auth/licenses', reseller),
    },
    {
      name: 'GET /resellers/auth/licenses, 10,000 rows',
      connections: 10,
      request: get('/resellers/auth/licenses', reseller),
    },
    {
      name: 'POST /licenses/import, 1 MB dry run',
      connections: 10,
      request: post('/licenses/import', dryRun, owner),
    },
    {
      name: 'POST /licenses, 100 in one request',
      connections: 10,
      request: post('/licenses', { app: busy.appId, expiresAt: '2036-01-01', count: 100 }, owner),
    },
  ]
  return { check: get('/client/session', program), cases }
}

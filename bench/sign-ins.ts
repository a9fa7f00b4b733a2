import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { pinProcesses, type Running, startBare, startServer } from './processes.ts'

// How many of 26 owners get in within three seconds while one /56 tries passwords. The server has core 0 for itself:
// `taskset -c 1 node bench/sign-ins.ts [checkout…]`, where `.` is this checkout.

const checkouts = process.argv.slice(2)
const owners = 26
const withinMs = 3000
const password = 'correct horse battery staple'
pinProcesses('0')

const post = async (server: Running, path: string, from: string, body: object) => {
  const started = performance.now()
  const response = await fetch(`${server.baseUrl}/api${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
    body: JSON.stringify(body),
  })
  await response.arrayBuffer()
  return { status: response.status, ms: performance.now() - started }
}

const emailOf = (at: number) => `owner${at}@example.com`

/** Runs the work during the flood and returns the flood's answers per second. */
async function duringFlood(server: Running, delayMs: number, work: () => Promise<void>): Promise<string> {
  const script = fileURLToPath(new URL('sign-in-flood.ts', import.meta.url))
  const flood = fork(script, [new URL(server.baseUrl).port, String(delayMs)], { stdio: 'inherit' })
  const started = performance.now()
  await sleep(2000)
  await work()
  flood.send('end')
  const [counted] = (await once(flood, 'message')) as [Record<string, number>]
  const seconds = (performance.now() - started) / 1000
  const rates = Object.entries(counted).map(([what, times]) => `${what}: ${(times / seconds).toFixed(0)}/s`)
  return rates.join(', ')
}

async function measure(checkout: string, delayMs: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'keyward-sign-ins-'))
  const environment = { DATA_DIR: folder, RATE_LIMITS: 'on', TRUST_PROXY: '1', PAYMENTS: 'off' }
  const server = await startServer(environment, [], checkout)
  try {
    const every = Array.from({ length: owners }, (_, at) => at)
    for (const at of every) {
      const body = { name: 'Owner', email: emailOf(at), password }
      const { status } = await post(server, '/auth/register', `192.0.${at}.1`, body)
      if (status !== 201) throw new Error(`registration answered ${status}`)
    }
    const run = async (network: string) => {
      const answers = await Promise.all(
        every.map((at) =>
          post(server, '/auth/login', `${network}.${at}.7`, { email: emailOf(at), password }),
        ),
      )
      const inTime = answers.filter(({ status, ms }) => status === 200 && ms <= withinMs).length
      const last = Math.max(...answers.map(({ ms }) => ms))
      return `${inTime} of ${owners}, last answer after ${(last / 1000).toFixed(1)} s`
    }
    const baseline = await run('198.51')
    let flooded = ''
    const rates = await duringFlood(server, delayMs, async () => {
      flooded = await run('203.0')
    })
    console.log(`${checkout}, again after ${delayMs} ms: ${flooded} (alone: ${baseline}); flood ${rates}`)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

for (const delayMs of [0, 5, 200]) for (const checkout of checkouts) await measure(checkout, delayMs)
const bare = await startBare({ '/api/auth/login': { status: 429, headers: [], body: '{"success":false}' } })
console.log(`a bare server: flood ${await duringFlood(bare, 0, () => sleep(2000))}`)
await bare.stop()

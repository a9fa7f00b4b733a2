import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, rmSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { makeDataDir } from './migrated.ts'
import { callOver, quickest } from './server-process.ts'

const dataDir = await makeDataDir('keyward-log-blocked-')
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})

/** Starts a server whose standard output is not read, and waits until it responds. */
async function startUnread(output: 'pipe' | number) {
  const port = await freePort()
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [quickest], {
    env: { PATH, HOME, PORT: String(port), RATE_LIMITS: 'off', DATA_DIR: dataDir },
    stdio: ['ignore', output, 'inherit'],
  })
  children.push(child)
  const url = `http://127.0.0.1:${port}`
  await eventually(() => callOver(url, 'GET', '/health'), { timeout: 110_000, interval: 50 })
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const end = () => {
    child.kill('SIGTERM')
    return ended
  }
  return { url, end }
}

test('a server whose log is on a full disk responds and exits at SIGTERM', async () => {
  const full = openSync('/dev/full', 'w')
  const { url, end } = await startUnread(full)
  closeSync(full)
  for (let count = 0; count < 50; count += 1) {
    expect((await callOver(url, 'GET', '/nothing')).status).toBe(404)
    expect((await callOver(url, 'GET', '/config')).status).toBe(200)
  }
  expect(await end()).toBe(0)
})

test('a server whose log is a full pipe responds and exits at SIGTERM', async () => {
  const { url, end } = await startUnread('pipe')
  // Each request logs at least 200 bytes, in total far more than a pipe buffers.
  const calls = async () => {
    for (let count = 0; count < 400; count += 1) await callOver(url, 'GET', '/config')
  }
  await Promise.all(Array.from({ length: 8 }, calls))
  expect((await callOver(url, 'GET', '/health')).json.data).toEqual({ status: 'up' })
  expect(await end()).toBe(0)
})

import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runKeyward } from './command-line.ts'
import { makeDataDir } from './migrated.ts'
import { callOver, type ServerProcess, startProcess } from './server-process.ts'

const refused = /^the server exited: Another Keyward server is running on [^\n]+\n$/

let dataDir: string
const running: ServerProcess[] = []
beforeEach(async () => {
  dataDir = await makeDataDir('keyward-data-dir-')
})
afterEach(async () => {
  for (const server of running.splice(0)) await server.end('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})

async function start() {
  const server = await startProcess({ DATA_DIR: dataDir })
  running.push(server)
  return server
}

test('exactly one of several concurrent servers starts on a data directory; the others exit with one line', async () => {
  const outcomes = await Promise.allSettled([start(), start(), start()])
  expect(running).toHaveLength(1)
  const reasons = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason.message] : [],
  )
  expect(reasons).toEqual([expect.stringMatching(refused), expect.stringMatching(refused)])
  expect((await callOver(running[0]?.url ?? '', 'GET', '/ready')).status).toBe(200)
})

test('a killed server blocks no restart, and the command line works while a server runs', async () => {
  await (await start()).end('SIGKILL')
  expect(existsSync(join(dataDir, 'server.lock'))).toBe(true)
  await start()
  const list = await runKeyward(['coupon', 'list'], { DATA_DIR: dataDir })
  expect([list.code, list.stderr]).toEqual([0, ''])
})

test('warns about every secret file that other accounts can read, and only then', async () => {
  const first = await start()
  expect(first.output()).not.toContain('warning')
  await first.end('SIGTERM')
  chmodSync(join(dataDir, 'secret.key'), 0o644)
  chmodSync(join(dataDir, 'keyward.db'), 0o640)
  const second = await start()
  const warnings = second
    .output()
    .split('\n')
    .filter((line) => line.includes('warning'))
  expect(warnings).toEqual([
    expect.stringMatching(/secret\.key is open to other accounts \(mode 644\): chmod 600 it$/),
    expect.stringMatching(/keyward\.db is open to other accounts \(mode 640\): chmod 600 it$/),
  ])
})

test('rejects a start after an interrupted restore with one line', async () => {
  rmSync(join(dataDir, 'keyward.db'))
  writeFileSync(join(dataDir, 'restore.unfinished'), '/somewhere/replaced\n')
  await expect(start()).rejects.toThrow(/^the server exited: A restore was interrupted: [^\n]+\n$/)
  expect(existsSync(join(dataDir, 'keyward.db'))).toBe(false)
})

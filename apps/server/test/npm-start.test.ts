import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from './eventually.ts'
import { rounds } from './rounds.ts'

const scripts = fileURLToPath(new URL('../../../scripts', import.meta.url))
let folder: string
let started: ChildProcess | undefined
let url = ''

/** Creates a project whose start script is the real one without the installation. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-npm-'))
  mkdirSync(join(folder, 'scripts'))
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'start', private: true, scripts: { start: 'node scripts/start.mjs' } }),
  )
  writeFileSync(
    join(folder, 'scripts', 'start.mjs'),
    `import { endWithNpm, serve } from '${pathToFileURL(join(scripts, 'serve.mjs'))}'
endWithNpm()
console.log('script', process.pid)
process.exitCode = await serve()
`,
  )
})

afterEach(async () => {
  if (started?.pid !== undefined && (await answers())) process.kill(-started.pid, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a command in its own process group and waits until the server responds. */
async function start(command: string) {
  const { PATH, HOME } = process.env
  const log = join(folder, 'log')
  started = spawn('sh', ['-c', command], {
    cwd: folder,
    detached: true,
    stdio: 'ignore',
    env: { PATH, HOME, PORT: '0', DATA_DIR: join(folder, 'data'), LOG: log },
  })
  await eventually(
    () => {
      url = /Keyward is ready: (\S+)/.exec(readFileSync(log, 'utf8'))?.[1] ?? ''
      expect(url).not.toBe('')
    },
    { timeout: 100_000, interval: 100 },
  )
  return Number(/script (\d+)/.exec(readFileSync(log, 'utf8'))?.[1])
}

const answers = () =>
  fetch(`${url}/api/health`).then(
    () => true,
    () => false,
  )
const expectExited = () =>
  eventually(async () => expect(await answers()).toBe(false), { timeout: 60_000, interval: 100 })

describe.skipIf(process.platform === 'win32')('a server started by npm exits', () => {
  test.each(rounds(['SIGKILL'] as const, ['SIGTERM', 'SIGKILL'] as const))(
    'when npm gets %s',
    async (signal) => {
      await start('exec npm start >"$LOG" 2>&1')
      process.kill(started!.pid!, signal)
      await expectExited()
    },
  )

  test.each(rounds(['SIGINT'] as const, ['SIGINT', 'SIGTERM'] as const))(
    'when its process group gets %s',
    async (signal) => {
      await start('exec npm start >"$LOG" 2>&1')
      process.kill(-started!.pid!, signal)
      await expectExited()
    },
  )

  test('when its start script is killed', async () => {
    process.kill(await start('exec npm start >"$LOG" 2>&1'), 'SIGKILL')
    await expectExited()
  })
})

test.skipIf(process.platform === 'win32')(
  'a background server outlives the shell that started it',
  async () => {
    await start('nohup npm start >"$LOG" 2>&1 &')
    if (started!.exitCode === null) await new Promise((resolve) => started!.once('exit', resolve))
    // The start script checks for npm ten times a second.
    for (let round = 0; round < 8; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      expect(await answers()).toBe(true)
    }
  },
)

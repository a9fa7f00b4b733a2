import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { languages } from '../../apps/console/src/features/apps/integration/snippets.ts'
import { isFull } from '../../apps/server/test/rounds.ts'
import { refuse, type StandIn, startStandIn, succeed, user } from '../../packages/sdk/test/stand-in.ts'
import { amalgamate } from '../amalgamate.ts'
import { cppFlags, findLanguage, type LanguageName } from './languages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const execute = promisify(execFile)

let server: StandIn
let folder: string
beforeAll(async () => {
  server = await startStandIn(`/o'brien`)
  folder = await mkdtemp(join(tmpdir(), 'keyward-snippet-'))
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

/** Makes the SDK usable in a folder, and returns the command that runs the snippet there. */
const prepare: Record<LanguageName, (folder: string, file: string) => Promise<string[]>> = {
  async typescript(folder, file) {
    await mkdir(join(folder, 'node_modules/@keyward'), { recursive: true })
    await symlink(join(root, 'packages/sdk'), join(folder, 'node_modules/@keyward/sdk'))
    return [process.execPath, file]
  },
  async python(_, file) {
    const [python] = await findLanguage('python').command()
    return ['env', `PYTHONPATH=${join(root, 'sdks/python')}`, python!, file]
  },
  async cpp(folder, file) {
    await copyFile(amalgamate('cpp'), join(folder, 'keyward.hpp'))
    // Its first line says how to compile it.
    const [, command] = /^\/\/ g\+\+ (.+)$/m.exec(await readFile(join(folder, file), 'utf8'))!
    await execute('g++', [...cppFlags, ...command!.split(' ')], { cwd: folder })
    return [join(folder, 'license')]
  },
  async csharp(folder, file) {
    await copyFile(amalgamate('csharp'), join(folder, 'Keyward.cs'))
    const [, compile, program] = /^\/\/ mcs (.+) && mono (.+)$/m.exec(
      await readFile(join(folder, file), 'utf8'),
    )!
    await execute('mcs', ['-warnaserror', ...compile!.split(' ')], { cwd: folder })
    return ['mono', program!]
  },
}

describe.each(languages)('the snippet of the console in $label', ({ id, file, code }) => {
  const name = id as LanguageName
  // `npm test` compiles the C++ SDK once, in amalgamate.test.ts.
  const isRare = name === 'cpp' && !isFull
  test.skipIf(isRare || findLanguage(name).missing)(
    'says until when it is licensed, and ends with the text of a refusal',
    { timeout: 240_000 },
    async () => {
      const version = `1.0 "?\\?/'`
      const app = { appId: 'app12345', appSecret: `s'"\\??/`, version }
      const place = join(folder, name)
      await mkdir(place)
      await writeFile(join(place, file), code({ app, keys: server.publicKeys, baseUrl: server.baseUrl }))
      const [command, ...args] = (await prepare[name](place, file)) as [string, ...string[]]
      const env = { ...process.env, HOME: place, XDG_STATE_HOME: place }
      const run = (key: string) => execute(command, [...args, key], { cwd: place, env })

      server.seen.length = 0
      server.on('license', succeed({ user }), refuse(403, 'userBanned', 'You are banned'))
      expect((await run('KEY-1')).stdout).toMatch(/^Licensed until 2030-01-01/)
      const [init, license] = server.seen
      expect(init?.body).toMatchObject({ appId: app.appId, secret: app.appSecret, version })
      expect(license?.body).toMatchObject({ licenseKey: 'KEY-1' })
      await expect(run('KEY-2')).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining('You are banned'),
      })
    },
  )
})

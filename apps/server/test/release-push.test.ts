import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Artifact, Release } from '@keyward/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cli } from './agents.ts'
import { makeApiKey } from './api-key-actor.ts'
import { runKeyward, runKeywardInHost } from './command-line.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from './fixtures.ts'
import { freePort } from './free-port.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)
const folder = mkdtempSync(join(tmpdir(), 'keyward-releases-'))
const setup = join(folder, 'dist/Atlas Setup.exe')
const image = join(folder, 'dist/Atlas.dmg')
/** In the full run above what fits into 32 bits. */
const setupBytes = process.env.TEST_FULL === '1' ? 5_368_709_120 : 5_000_000
let url: string
let key: string
let environment: Record<string, string>
beforeAll(async () => {
  url = await on.server.listen({ port: 0, host: '127.0.0.1' })
  key = (await makeApiKey(on, owner, { permissions: ['releases:write'] })).key
  for (const name of ['bin', 'dist']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'bin/keyward'), `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`)
  chmodSync(join(folder, 'bin/keyward'), 0o755)
  writeFileSync(setup, 'MZ')
  truncateSync(setup, setupBytes)
  writeFileSync(`${setup}.sig`, 'RWQ=\n')
  writeFileSync(image, 'koly')
  writeFileSync(join(folder, 'CHANGES.md'), '* Größer\n')
  environment = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, KEYWARD_URL: url, KEYWARD_API_KEY: key }
})
afterAll(() => rmSync(folder, { recursive: true }))

const list = async (): Promise<Release[]> =>
  (await owner.call('GET', `/apps/${app._id}/releases`)).json.data.releases
const push = (args: string[], changed: Record<string, string> = {}) =>
  runKeyward(['release', 'push', ...args], { ...environment, ...changed })

async function digestOf(file: string, name: string): Promise<string> {
  const hash = createHash(name)
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/** The script of the page's step of a CI file. */
function stepOfPage(): string {
  const page = readFileSync(new URL('../../../docs/releases.md', import.meta.url), 'utf8')
  const script = /^ {2}run: \|\n((?: {4}.*\n)+)/m.exec(page)?.[1]
  if (script === undefined) throw new Error('docs/releases.md has no step of a CI file')
  return script.replace(/^ {4}/gm, '')
}

const runStep = () =>
  new Promise<string>((resolve, reject) => {
    const env = { ...environment, APP: app.appId, VERSION: '1.2.0' }
    execFile('sh', ['-eu', '-c', stepOfPage()], { env, cwd: folder }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr)) : resolve(stdout),
    )
  })

test('the step of a CI file lists a release with its files, once', async () => {
  expect(await runStep()).toBe('Release 1.2.0 with 2 files is listed.\n')
  const releases = await list()
  expect(releases).toMatchObject([{ version: '1.2.0', channel: 'stable', notes: '* Größer\n' }])
  expect(releases[0]?.artifacts).toEqual([
    {
      ...{ platform: 'windows', architecture: 'x64', kind: 'installer', name: 'Atlas Setup.exe' },
      url: 'https://downloads.example.com/atlas/1.2.0/Atlas%20Setup.exe',
      size: setupBytes,
      sha512: await digestOf(setup, 'sha512'),
      sha256: await digestOf(setup, 'sha256'),
      sha1: await digestOf(setup, 'sha1'),
      signature: 'RWQ=',
    },
    expect.objectContaining({ name: 'Atlas.dmg', size: 4 }),
  ])
  expect(await runStep()).toBe('Release 1.2.0 with 2 files was listed already.\n')
  expect(await list()).toEqual(releases)
  const { records } = (await owner.call('GET', `/audit?subject=${releases[0]?._id}`)).json.data
  expect(records).toHaveLength(1)
})

test('jobs for several platforms list their files of one version at the same time', async () => {
  const platforms = ['windows', 'macos', 'linux', 'freebsd']
  const jobs = platforms.map((platform) =>
    push([app.appId, '1.2.0', `${image}=${platform}/x64/archive`, '--url', 'https://example.com']),
  )
  expect((await Promise.all(jobs)).map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    platforms.map(() => ({ code: 0, stderr: '' })),
  )
  const [release] = await list()
  expect(release?.artifacts.map(({ platform }: Artifact) => platform).toSorted()).toEqual(
    platforms.toSorted(),
  )
  const again = [
    app.appId,
    '1.2.0',
    `${image}=linux/x64/archive`,
    '--url',
    'https://example.com/2',
    '--build',
    '7',
  ]
  expect((await push(again)).stdout).toBe('Release 1.2.0 with 4 files is listed, with what is new.\n')
  const [changed] = await list()
  expect(changed).toMatchObject({ build: '7', releasedAt: release?.releasedAt })
  expect(changed?.artifacts.filter((file) => file.url === 'https://example.com/2/Atlas.dmg')).toHaveLength(1)
})

test('a security fix is one from its first moment on', async () => {
  const security = { severity: 'high', affects: [{ before: '1.2.0' }], summary: 'A file runs code' }
  writeFileSync(join(folder, 'fix.json'), JSON.stringify(security))
  const args = [app.appId, '1.2.0', '--security', join(folder, 'fix.json')]
  expect((await push(args)).stdout).toBe('Release 1.2.0 with 0 files is listed.\n')
  expect((await list())[0]?.security).toEqual({
    ...security,
    affects: [{ from: null, before: '1.2.0' }],
    advisory: null,
  })
  expect((await push(args)).stdout).toBe('Release 1.2.0 with 0 files was listed already.\n')
})

test('says what is wrong, and never the key', async () => {
  const file = `${image}=macos/universal/archive`
  const from = ['--url', 'https://example.com']
  const wrongs: [args: string[], said: string, changed?: Record<string, string>][] = [
    [[], 'Usage: keyward release push'],
    [[app.appId, '1.2.0', image, ...from], 'a file is given with its platform'],
    [[app.appId, '1.2.0', file], '--url is the https address'],
    [[app.appId, '1.2.0', `${image}2=macos/universal/archive`, ...from], 'There is no file'],
    [[app.appId, '1.2.0', `${folder}=macos/universal/archive`, ...from], 'cannot be read (EISDIR)'],
    [[app.appId, '1.2.0', file, ...from, '--notes', 'none.md'], 'There is no file none.md.'],
    [[app.appId, '1.2.0', file, ...from, '--security', image], 'is no JSON'],
    [[app.appId, '1.2.0', file, '--url', 'http://example.com'], 'Atlas.dmg.url: Please enter a web address'],
    [[app.appId, '1.2', file, ...from], 'version: Version must be in format x.y.z'],
    [['A1B2C3D4', '1.2.0', file, ...from], 'There is no such app'],
    [[app.appId, '1.2.0', file, ...from], 'KEYWARD_API_KEY: is required', { KEYWARD_API_KEY: '' }],
    [[app.appId, '1.2.0', '--key', key], "Unknown option '--key'"],
    [
      [app.appId, '1.2.0', file, ...from],
      'Is KEYWARD_URL right?',
      { KEYWARD_URL: `http://127.0.0.1:${await freePort()}` },
    ],
    [
      [app.appId, '1.2.0', file, ...from],
      'lacks the permission releases:write',
      { KEYWARD_API_KEY: (await makeApiKey(on, owner)).key },
    ],
  ]
  for (const [args, said, changed] of wrongs) {
    const { code, stdout, stderr } = await runKeywardInHost(['release', 'push', ...args], {
      ...environment,
      ...changed,
    })
    expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' })
    expect(stderr).toContain(said)
    expect(stderr).not.toContain(key)
  }
  expect(await list()).toEqual([])
  await push([app.appId, '1.2.0', file, ...from])
  const [release] = await list()
  await owner.call('POST', `/releases/${release?._id}/withdraw`)
  expect((await push([app.appId, '1.2.0', file, ...from])).stderr).toBe(
    'Release 1.2.0 was withdrawn, so nothing was changed.\n',
  )
})

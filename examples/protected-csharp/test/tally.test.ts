// In the full run: it compiles the program; the one in TypeScript runs each time.
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { messageDefaults } from '@keyward/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../../apps/server/src/app.ts'
import { readConfig } from '../../../apps/server/src/config.ts'
import { prepare } from '../../../apps/server/src/db/prepare.ts'
import { amalgamate } from '../../../sdks/amalgamate.ts'
import { findLanguage } from '../../../sdks/conformance/languages.ts'

const execute = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const { missing } = findLanguage('csharp')
const day = 24 * 60 * 60 * 1000

interface OwnerData {
  token?: string
  app: { _id: string; appId: string; appSecret: string }
  keys: object[]
  license: { _id: string; key: string }
  clients: { _id: string }[]
  file: string
}

describe.skipIf(missing !== undefined)('Tally for .NET', () => {
  let folder: string
  let program: string
  let app: OwnerData['app']
  let token: string | undefined
  let stop: () => Promise<void>
  let start: () => Promise<void>
  let serverUrl = ''

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keyward-tally-'))
    program = join(folder, 'tally.exe')
    const example = join(root, 'examples/protected-csharp')
    for (const name of ['Program.cs', 'NextStep.cs']) await cp(join(example, name), join(folder, name))
    await cp(amalgamate('csharp'), join(folder, 'Keyward.cs'))
    const [, line] = /^ *mcs (.+)$/m.exec(await readFile(join(example, 'README.md'), 'utf8'))!
    await execute('mcs', ['-warnaserror', ...line!.split(' ')], { cwd: folder })
    const config = readConfig({ DATA_DIR: join(folder, 'data'), RATE_LIMITS: 'off' })
    const { database, seal } = await prepare(config)
    const consoleDir = join(folder, 'none')
    start = async () => {
      const server = await buildApp({ config, database, seal, consoleDir, logLevel: 'silent' })
      const port = serverUrl === '' ? 0 : Number(new URL(serverUrl).port)
      serverUrl = await server.listen({ port, host: '127.0.0.1' })
      stop = () => server.close()
    }
    await start()
    const email = 'vera@example.com'
    await owner('POST', '/auth/register', { name: 'Vera', email, password: 'a good password' })
    app = (await owner('POST', '/apps', { name: 'Tally' })).app
    const { keys } = await owner('GET', `/client/apps/${app.appId}/keys`)
    const { appId, appSecret } = app
    const values = { baseUrl: serverUrl, appId, secret: appSecret, publicKeys: JSON.stringify(keys) }
    const lines = Object.entries(values).map(([name, value]) => `${name} = ${value}\n`)
    await writeFile(join(folder, 'keyward.txt'), lines.join(''))
    await writeFile(join(folder, 'text.md'), '# One heading\n\nfour words of text\n')
    return () => database.close()
  }, 600_000)

  afterAll(async () => {
    await stop?.()
    await rm(folder, { recursive: true, force: true })
  })

  async function owner(method: string, path: string, body?: object): Promise<OwnerData> {
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (token) headers.authorization = `Bearer ${token}`
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await fetch(`${serverUrl}/api${path}`, sent)
    const answer = (await response.json()) as { success: boolean; data: OwnerData }
    expect(answer, `${method} ${path}`).toMatchObject({ success: true })
    token ??= answer.data.token
    return answer.data
  }

  const issueLicense = async () => {
    const expiresAt = new Date(Date.now() + 30 * day).toISOString()
    return (await owner('POST', '/licenses', { app: app._id, expiresAt })).license
  }
  const issueKey = async () => (await issueLicense()).key

  /** Runs Tally on a machine of its own. */
  async function run(machine: string, ...args: string[]) {
    const env = { PATH: process.env.PATH, HOME: join(folder, machine), LANG: 'tr_TR.UTF-8' }
    try {
      const { stdout } = await execute('mono', [program, ...args], { cwd: folder, env })
      return { status: 0, stdout, stderr: '' }
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
      return { status: code, stdout, stderr }
    }
  }

  const counted = { status: 0, stdout: 'text.md 7\n' }

  it('counts with a license, without the server too, and stops after a ban', async () => {
    const key = await issueKey()
    expect(await run('online', 'text.md')).toMatchObject({ status: 3, stdout: '' })
    expect(await run('online', '--key', key, 'text.md')).toMatchObject(counted)
    await stop()
    expect(await run('online', 'text.md')).toMatchObject(counted)
    expect(await run('elsewhere', 'text.md')).toMatchObject({ status: 2, stdout: '' })
    await start()
    const { clients } = await owner('GET', `/clients?app=${app.appId}`)
    await owner('PATCH', `/clients/${clients[0]!._id}/toggle-ban`)
    const banned = await run('online', '--key', key, 'text.md')
    expect(banned).toMatchObject({ status: 3, stdout: '' })
    expect(banned.stderr).toMatch(
      new RegExp(`^${messageDefaults.userBanned}\nAsk the vendor\\.\nReference: \\w{10}\n$`),
    )
    await stop()
    expect(await run('online', 'text.md')).toMatchObject({ status: 2, stdout: '' })
    await start()
    await owner('PATCH', `/clients/${clients[0]!._id}/toggle-ban`)
  })

  it('counts on a machine that is never online, until it gives the license up', async () => {
    const key = await issueKey()
    const asked = await run('island', '--request', key)
    const request = asked.stdout.trim()
    const { file } = await owner('POST', `/apps/${app._id}/offline-activations`, { request })
    await writeFile(join(folder, 'activation.txt'), file)
    await stop()
    expect(await run('island', '--activate', 'activation.txt')).toMatchObject({ status: 0 })
    expect(await run('island', 'text.md')).toMatchObject(counted)
    expect(await run('elsewhere', '--activate', 'activation.txt')).toMatchObject({ status: 1 })
    const { stdout } = await run('island', '--deactivate')
    expect(await run('island', 'text.md')).toMatchObject({ status: 2 })
    await start()
    await owner('POST', `/apps/${app._id}/offline-deactivations`, { code: stdout.trim() })
  })

  it('names the day of the end, and survives an empty file of the SDK and a folder that cannot be written', async () => {
    const { key, _id } = await issueLicense()
    const state = join(folder, 'ended', '.local', 'state')
    await mkdir(join(state, 'keyward'), { recursive: true })
    await writeFile(join(state, 'keyward', `${app.appId}.json`), '')
    expect(await run('ended', '--key', key, 'text.md')).toMatchObject(counted)
    await rm(join(state, 'keyward'), { recursive: true })
    await writeFile(join(state, 'keyward'), '')
    expect(await run('ended', '--key', key, 'text.md')).toMatchObject(counted)
    const expiresAt = new Date(Date.now() - 1_000).toISOString()
    await owner('PUT', `/licenses/${_id}`, { expiresAt })
    expect(await run('ended', '--key', key, 'text.md')).toMatchObject({
      status: 3,
      stderr: expect.stringContaining(`ended on ${expiresAt.slice(0, 10)}. Renew it`),
    })
  })

  it('shows wrong use with the exit status 1', async () => {
    expect(await run('online')).toMatchObject({ status: 1, stderr: expect.stringContaining('Usage: tally') })
    expect(await run('online', '--activate', 'no such file')).toMatchObject({ status: 1 })
  })
})

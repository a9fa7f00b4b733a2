// In the full run: it installs and runs what the page says; automation.test.ts runs the program each time.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../../apps/server/test/free-port.ts'
import { callOver } from '../../../apps/server/test/server-process.ts'
import { copyExample, runIn, type StartedVendor, startVendor } from './vendor.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

/** The blocks of code in a language, each with the answer that follows it. */
const blocksOf = (language: string, page = 'automation') =>
  [
    ...read(`../../docs/${page}.md`).matchAll(
      /^```(\w+)\n([\s\S]*?)^```\n(?:\n```json\n([\s\S]*?)^```\n)?/gm,
    ),
  ].filter((block) => block[1] === language)

let vendor: StartedVendor
let folder: string
let port: number
let receiver: ReturnType<typeof startReceiver> | undefined
beforeAll(async () => {
  port = await freePort()
  folder = await copyExample()
  vendor = await startVendor()
})
afterAll(async () => {
  receiver?.end()
  await vendor?.stop()
  await rm(folder, { recursive: true })
})

/** The receiver of the page for Node. */
function startReceiver(secret: string) {
  const file = fileURLToPath(new URL('../receivers/receiver.mjs', import.meta.url))
  const child = spawn(process.execPath, [file], { env: { PORT: `${port}`, WEBHOOK_SECRET: secret } })
  let heard = ''
  child.stdout.on('data', (text) => {
    heard += text
  })
  return { heard: () => heard, end: () => child.kill('SIGKILL') }
}

const eventOfPage = /```json\n(\{\n {2}"type"[\s\S]*?)```/

/** The newest event that the server has sent. */
async function readEvent(): Promise<unknown> {
  const { webhooks } = await vendor.call('GET', '/webhooks')
  const path = `/webhooks/${webhooks[0]._id}/deliveries`
  const { deliveries } = await vendor.call('GET', path)
  const { delivery } = await vendor.call('GET', `${path}/${deliveries[0]._id}`)
  return JSON.parse(delivery.request.split('\n\n')[1])
}

/** What an answer must match: a text that ends with an ellipsis stands for every text with that beginning. */
const toExpected = (shown: string): object =>
  JSON.parse(shown, (name, value) => {
    if (name === 'timestamp') return expect.any(String)
    if (typeof value === 'string' && value.endsWith('…'))
      return expect.stringMatching(new RegExp(`^${value.slice(0, -1)}.`))
    return Array.isArray(value) ? expect.arrayContaining(value) : asPart(value)
  })

const asPart = (value: unknown) =>
  Object.getPrototypeOf(value ?? '') === Object.prototype ? expect.objectContaining(value as object) : value

it('every command does what the page says', async () => {
  const values: Record<string, string> = {
    'http://127.0.0.1:3000': vendor.url,
    'kwa_…': await vendor.makeKey('licenses:read', 'licenses:write', 'webhooks:write'),
    'https://example.com/keyward': `http://127.0.0.1:${port}`,
    A1B2C3D4: vendor.appId,
    // The packages are those of the repository.
    'npm install': 'true',
  }
  let exported = ''
  for (const [, , commands = '', shown] of blocksOf('sh')) {
    const filled = Object.entries(values).reduce((text, [from, to]) => text.replaceAll(from, to), commands)
    expect(filled).not.toContain('…')
    const script = `set -eu\n${exported}${filled.replaceAll('curl ', 'curl -sS ')}`
    const { status, output } = await runIn(folder, 'bash', ['-c', script])
    expect({ commands, status, output }).toMatchObject({ status: 0 })
    exported += filled.replace(/^(?!export ).*\n/gm, '')
    if (commands.includes('curl -i')) expect(output).toMatch(/^idempotent-replay: true/im)
    else if (commands.includes('curl ')) {
      const answer = JSON.parse(output)
      expect(answer, commands).toEqual(toExpected(shown ?? ''))
      if (answer.data?.secret) receiver = startReceiver(answer.data.secret)
      if (answer.data?.license) values['lic_…'] ??= answer.data.license._id
    }
  }
  const toggleBan = (body: object) =>
    callOver(vendor.url, 'PATCH', `/licenses/${values['lic_…']}/toggle-ban`, { token: values['kwa_…'], body })
  await toggleBan({ is_banned: false })
  await toggleBan({ is_banned: true, reason: 'Chargeback' })
  await expect.poll(() => receiver?.heard()).toMatch(/license\.unbanned[\s\S]+license\.banned/)
  expect(await readEvent()).toEqual(toExpected(read('../../docs/automation.md').match(eventOfPage)![1]!))
  const { licenses } = await vendor.call('GET', '/licenses')
  expect(licenses.map(({ note, status }: Record<string, string>) => [note, status])).toEqual([
    ['Order 2001', 'unused'],
    ['Order 1042', 'banned'],
  ])
})

it('the commands of the page about API keys work', async () => {
  const { license } = await vendor.call('POST', '/licenses', { app: vendor.appId, expiresAt: '2030-12-31' })
  const environment = { KEYWARD: vendor.url, KEY: await vendor.makeKey('licenses:write') }
  const [[, , commands = ''] = []] = blocksOf('sh', 'api-keys')
  const script = commands.replaceAll('A1B2C3D4', vendor.appId).replaceAll('lic_…', license._id)
  const { output } = await runIn(folder, 'bash', ['-c', script], environment)
  expect(output.match(/"success":(true|false)/g)).toEqual(Array(3).fill('"success":true'))
  const { license: changed } = await vendor.call('GET', `/licenses/${license._id}`)
  expect(changed).toMatchObject({ expiresAt: '2031-01-30T23:59:59.999Z', banned: true })
})

it('shows the receivers and the calls as the example has them', () => {
  for (const [language, file] of [
    ['js', 'receiver.mjs'],
    ['python', 'receiver.py'],
    ['php', 'receiver.php'],
  ] as const)
    expect(blocksOf(language).map(([, , code]) => code)).toEqual([read(`receivers/${file}`)])
  const calls = read('src/calls.ts').replace(/\s+/g, ' ')
  expect(blocksOf('ts').length).toBeGreaterThan(0)
  for (const [, , code = ''] of blocksOf('ts')) expect(calls).toContain(code.trim().replace(/\s+/g, ' '))
})

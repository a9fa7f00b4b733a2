import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isFull } from '../../../apps/server/test/rounds.ts'
import { copyExample, runIn, type StartedVendor, startVendor } from './vendor.ts'

let vendor: StartedVendor
let folder: string
const run = (program: string, args: string[], environment = {}) => runIn(folder, program, args, environment)

async function runProgram(apiKey: string, args: string[], url = vendor.url) {
  return run(process.execPath, ['dist/main.js', ...args], { KEYWARD_URL: url, KEYWARD_API_KEY: apiKey })
}

/** The license that a run printed. */
async function licenseOf(ended: ReturnType<typeof runProgram>) {
  const { status, output } = await ended
  expect({ status, output }).toMatchObject({ status: 0 })
  return JSON.parse(output) as { _id: string; key: string; status: string; expiresAt: string; note: string }
}

beforeAll(async () => {
  folder = await copyExample()
  vendor = await startVendor()
  // The generated types are compared in the full run: making and checking them takes longer than all tests here.
  if (isFull) {
    const generated = await run('npm', ['run', 'generate', '--', `${vendor.url}/api/openapi.json`])
    expect(generated).toMatchObject({ status: 0 })
  }
  const options = isFull ? [] : ['--', '--noCheck']
  expect(await run('npm', ['run', 'build', ...options])).toMatchObject({ status: 0 })
})
afterAll(async () => {
  await vendor?.stop()
  await rm(folder, { recursive: true })
})

it('creates, extends and bans a license with an API key', async () => {
  const key = await vendor.makeKey('licenses:write')
  const created = await licenseOf(runProgram(key, ['create', vendor.appId, '30', '1042']))
  expect(created).toMatchObject({ status: 'unused', note: 'Order 1042', expiresAt: null })
  const tooEarly = await runProgram(key, ['extend', created._id, '30', '1042'])
  expect(tooEarly).toEqual({ status: 1, output: expect.stringContaining('nothing to extend') })
  await vendor.call('PUT', `/licenses/${created._id}`, { expiresAt: '2031-01-01' })
  const extended = await licenseOf(runProgram(key, ['extend', created._id, '30', '1043']))
  expect(extended).toMatchObject({ _id: created._id, expiresAt: '2031-01-31T23:59:59.999Z' })
  const banned = await licenseOf(runProgram(key, ['ban', created._id, 'Chargeback']))
  expect(banned).toMatchObject({ _id: created._id, status: 'banned' })
  const { license } = await vendor.call('GET', `/licenses/${created._id}`)
  expect(license).toMatchObject({ banned: true, banReason: 'Chargeback' })
})

it('creates and extends once for an order, however often it is asked', async () => {
  const key = await vendor.makeKey('licenses:write')
  const create = () => licenseOf(runProgram(key, ['create', vendor.appId, '30', '2001']))
  const created = await create()
  expect(await create()).toEqual(created)
  await vendor.call('PUT', `/licenses/${created._id}`, { expiresAt: '2031-01-01' })
  const extend = () => licenseOf(runProgram(key, ['extend', created._id, '1', '2002']))
  expect(await extend()).toEqual(await extend())
})

it('repeats a request whose answer was lost, also while it runs, and creates one license', async () => {
  let attempts = 0
  const json = { 'content-type': 'application/json' }
  const proxy = createServer(async (incoming, outgoing) => {
    const { authorization = '', 'content-type': type = '', 'idempotency-key': name = '' } = incoming.headers
    const answer = await fetch(vendor.url + incoming.url, {
      method: 'POST',
      headers: { authorization, 'content-type': type, 'idempotency-key': String(name) },
      body: Buffer.concat(await incoming.toArray()),
    })
    const body = await answer.text()
    if (++attempts === 1) return outgoing.destroy()
    if (attempts === 2) return outgoing.writeHead(409, json).end('{"success":false,"code":"request_running"}')
    outgoing.writeHead(answer.status, json).end(body)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const key = await vendor.makeKey('licenses:write')
  const { _id } = await licenseOf(runProgram(key, ['create', vendor.appId, '30', '3001'], url))
  proxy.close()
  expect(attempts).toBe(3)
  const { licenses } = await vendor.call('GET', '/licenses?search=Order+3001')
  expect(licenses.map((one: { _id: string }) => one._id)).toEqual([_id])
})

it('shows plainly why the server refuses, and how it is used', async () => {
  const key = await vendor.makeKey('licenses:write')
  const reader = await vendor.makeKey('licenses:read')
  const create = (apiKey: string, ...args: string[]) => runProgram(apiKey, ['create', vendor.appId, ...args])
  expect(await create(key, '0', '1')).toEqual({
    status: 2,
    output: expect.stringMatching(/^400 invalid_input: .+\n {2}duration\.value: .+\n$/),
  })
  expect((await create(reader, '30', '1')).output).toBe(
    '403 permission_missing: Your role or API key does not allow this\n',
  )
  expect((await create(`kwa_${'0'.repeat(40)}`, '30', '1')).output).toBe('401 unauthorized: Not authorized\n')
  expect((await runProgram(key, ['ban', 'lic_none', 'Fraud'])).output).toBe('404 not_found: Not found\n')
  expect(await runProgram(key, ['sell'])).toMatchObject({
    status: 1,
    output: expect.stringContaining('ORDER'),
  })
})

it.skipIf(!isFull)(
  'does not compile with a field, path, header or type that the API does not have',
  async () => {
    const calls = await readFile(join(folder, 'src/calls.ts'), 'utf8')
    const mistakes: [string, string, string][] = [
      ['note },', 'note, notes: note },', "'notes' does not exist"],
      ['value: days', 'value: String(days)', "Type 'string' is not assignable to type 'number'"],
      ["unit: 'days'", "unit: 'weeks'", `Type '"weeks"' is not assignable`],
      ["'extend', ids: [id]", "'extend', ids: id", "Type 'string' is not assignable to type 'string[]'"],
      ["action: 'extend'", "action: 'renew'", `Type '"renew"' is not assignable`],
      ["'/api/licenses/bulk'", "'/api/license/bulk'", '\'"/api/license/bulk"\' is not assignable'],
      ["'Idempotency-Key': request } },", "'Idempotency': request } },", "''Idempotency'' does not exist"],
      ['path: { id }, ', '', "Property 'path' is missing"],
      ['const { license } =', 'const { licence } =', "Property 'licence' does not exist"],
      [
        'return license\n    },\n\n    async ban',
        'return license.state\n    },\n\n    async ban',
        "Property 'state' does not exist",
      ],
    ]
    for (const [index, [right, wrong]] of mistakes.entries()) {
      expect(calls).toContain(right)
      await writeFile(join(folder, `src/mistake${index}.ts`), calls.replace(right, wrong))
    }
    const { status, output } = await run('npm', ['run', 'build', '--', '--noEmit', '--pretty', 'false'])
    expect(status).not.toBe(0)
    for (const [index, [, , message]] of mistakes.entries()) {
      const errors = output.split(/\n(?=src\/)/).filter((line) => line.startsWith(`src/mistake${index}.ts`))
      expect(errors.join('\n'), output).toContain(message)
    }
    expect(output).not.toMatch(/^src\/(main|calls)\.ts/m)
  },
)

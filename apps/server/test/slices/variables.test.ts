// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { activateKey, makeApp, refusal, registerUser, wrongFields } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { startServer } from '../harness.ts'

const on = serverForAll({}, { gateSizes: { requests: { running: 100, waiting: 0 } } })
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

type Variable = { name: string; value: string; public?: boolean; offline?: boolean }
const set = (variables: unknown) => owner.call('PUT', `/apps/${app._id}/variables`, { variables })
const read = async () => (await owner.call('GET', `/apps/${app._id}/variables`)).json.data.variables
const setOf = (id: string, variables: unknown) => owner.call('PUT', `/clients/${id}/variables`, { variables })
const readOf = async (id: string) => (await owner.call('GET', `/clients/${id}/variables`)).json.data.variables

const endpoint: Variable = { name: 'endpoint', value: 'https://api.example.com', public: true }
const token: Variable = { name: 'token', value: 'a secret value\nof two lines', public: false }

test('keeps the variables of an app in their order until they are replaced', async () => {
  expect(await read()).toEqual([])
  const { status, json } = await set([token, endpoint])
  expect(status).toBe(200)
  expect(json.data.variables).toEqual([token, endpoint])
  expect(await read()).toEqual([token, endpoint])
  await set([endpoint])
  expect(await read()).toEqual([endpoint])
  await set([])
  expect(await read()).toEqual([])
})

test('keeps the variables of an end user', async () => {
  const { user } = await activateKey(on, owner, app)
  const mine = { name: 'quota', value: '5' }
  expect((await setOf(user._id, [mine])).status).toBe(200)
  expect(await readOf(user._id)).toEqual([mine])
  await owner.call('DELETE', `/clients/${user._id}`)
  expect(refusal(await owner.call('GET', `/clients/${user._id}/variables`))).toBe('not_found')
})

test('encrypts values at rest, and records only names', async () => {
  const { user } = await registerUser(on, owner, app)
  await set([endpoint, token])
  await set([
    { ...endpoint, public: false },
    { name: 'other', value: 'a secret value', public: false },
  ])
  await setOf(user._id, [{ name: 'note', value: 'a secret value' }])
  const { db } = on.database
  const rows = [
    ...(await db.selectFrom('app_variables').selectAll().execute()),
    ...(await db.selectFrom('client_variables').selectAll().execute()),
    ...(await db.selectFrom('audit').selectAll().execute()),
  ]
  expect(JSON.stringify(rows)).not.toMatch(/a secret value|api\.example/)
  const last = await db
    .selectFrom('audit')
    .select('detail')
    .where('action', '=', 'app.variables_changed')
    .where('target_id', '=', app._id)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  expect(JSON.parse(last.detail ?? '')).toEqual({
    added: ['other'],
    changed: ['endpoint'],
    removed: ['token'],
  })
})

test('logs no value, even when a request is rejected', async () => {
  const lines: string[] = []
  const logging = await startServer({}, { logLevel: 'trace', log: { write: (line) => lines.push(line) } })
  try {
    const register = { name: 'A', email: 'logs@example.com', password: 'correct horse' }
    const { json } = await logging.call('POST', '/auth/register', { body: register })
    const call = (method: string, path: string, body: unknown) =>
      logging.call(method, path, { token: json.data.token, body })
    const made = (await call('POST', '/apps', { name: 'A' })).json.data.app
    for (const name of ['token', '__proto__']) {
      const body = { variables: [{ name, value: 'a secret value', public: false }] }
      const answer = await call('PUT', `/apps/${made._id}/variables`, body)
      if (answer.status !== 200) expect(answer.raw.toString()).not.toContain('a secret value')
    }
    expect(lines.length).toBeGreaterThan(1)
    expect(lines.join('')).not.toContain('a secret value')
  } finally {
    await logging.close()
  }
})

describe('rejects', () => {
  const named = (name: string) => ({ name, value: 'x', public: true })
  test.each([
    ['an empty name', named('')],
    ['__proto__', named('__proto__')],
    ['constructor', named('constructor')],
    ['toString', named('toString')],
    ['a name with a line break', named('a\nb')],
    ['a name of 65 characters', named('a'.repeat(65))],
    ['a name with an invisible character', named('a\u200bb')],
    ['a value with a control character', { ...endpoint, value: 'a\u0000b' }],
    ['a value with an escape sequence', { ...endpoint, value: '\u001b[31m' }],
    ['a value with a lone surrogate', { ...endpoint, value: 'a\ud800' }],
    ['a value that is no text', { ...endpoint, value: 5 }],
    ['an unknown field', { ...endpoint, secret: true }],
  ])('%s', async (_what, variable) => {
    const fields = wrongFields(await set([token, variable]))
    expect(new Set(fields).size).toBe(1)
    expect(fields[0]).toMatch(/^variables\.1/)
    expect(await read()).toEqual([])
  })

  test('a name that is used twice', async () => {
    expect(wrongFields(await set([endpoint, token, endpoint]))).toEqual(['variables.2.name'])
  })

  test('more than 200 variables', async () => {
    const many = Array.from({ length: 201 }, (_, at) => named(`v${at}`))
    expect(wrongFields(await set(many))).toEqual(['variables'])
    expect((await set(many.slice(1))).status).toBe(200)
  })

  test('more than 64 KiB of names and values together, counted in UTF-8', async () => {
    const full = [
      { name: 'a', value: 'é'.repeat(16_384), public: true },
      { name: 'b', value: 'x'.repeat(32_766), public: false },
    ]
    expect((await set(full)).status).toBe(200)
    expect(wrongFields(await set([...full, { name: 'c', value: '', public: true }]))).toEqual(['variables'])
    expect(await read()).toEqual(full)
    const { user } = await activateKey(on, owner, app)
    expect(wrongFields(await setOf(user._id, [{ name: 'a', value: 'x'.repeat(65_536) }]))).toEqual([
      'variables',
    ])
    expect(refusal(await set([{ ...endpoint, value: 'x'.repeat(1_000_000) }]))).toBe('payload_too_large')
  })

  test('the public mark on a variable of an end user', async () => {
    const { user } = await activateKey(on, owner, app)
    expect(wrongFields(await setOf(user._id, [endpoint]))).toEqual(['variables.0.public'])
  })
})

test('32 concurrent callers leave the whole list of one of them', async () => {
  const lists = Array.from({ length: 32 }, (_, at) => [
    { name: 'first', value: String(at), public: true },
    { name: `own${at}`, value: String(at), public: false },
  ])
  const answers = await Promise.all(lists.map(set))
  expect(answers.map(({ status }) => status)).toEqual(lists.map(() => 200))
  expect(lists).toContainEqual(await read())
})

test('the variables of one app are not those of another', async () => {
  await set([endpoint])
  const other = await makeApp(owner, 'Other')
  expect((await owner.call('GET', `/apps/${other._id}/variables`)).json.data.variables).toEqual([])
})

test('keeps which variables are for offline use, records that as a change, and bounds them to 8 KiB', async () => {
  const half = { name: 'half', value: 'x'.repeat(4_092), public: false, offline: true }
  const other = { ...half, name: 'rest' }
  expect((await set([half, other])).status).toBe(200)
  expect(await read()).toEqual([half, other])
  const tooLong = await set([half, { ...other, value: `${other.value}x` }])
  expect(wrongFields(tooLong)).toEqual(['variables'])
  expect((await set([half, { ...other, value: `${other.value}x`, offline: false }])).status).toBe(200)
  const last = await on.database.db
    .selectFrom('audit')
    .select('detail')
    .where('action', '=', 'app.variables_changed')
    .where('target_id', '=', app._id)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  expect(last.detail).toContain('rest')
  expect(await read()).toEqual([half, { ...other, value: `${other.value}x`, offline: false }])
})

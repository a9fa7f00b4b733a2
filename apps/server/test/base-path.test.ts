import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from './harness.ts'

let on: TestServer
let consoleDir: string
beforeAll(async () => {
  consoleDir = mkdtempSync(join(tmpdir(), 'keyward-console-'))
  mkdirSync(join(consoleDir, 'pages', 'reseller'), { recursive: true })
  const page =
    '<html lang="en"><link href="./a.css"><script src="/theme.js"></script><a href="/auth">in</a><a href="//x">'
  for (const file of ['index.html', 'pages/reseller/auth.html']) writeFileSync(join(consoleDir, file), page)
  writeFileSync(join(consoleDir, 'theme.js'), 'theme')
  on = await startServer({ PUBLIC_URL: 'http://localhost/tools/keyward' }, { consoleDir })
})
afterAll(async () => {
  await on.close()
  rmSync(consoleDir, { recursive: true, force: true })
})

const get = (url: string) => on.server.inject({ method: 'GET', url })

test.each(['', '/tools/keyward'])('serves API, pages and files under "%s"', async (prefix) => {
  for (const path of [
    '/api/health',
    '/',
    '/?a=1',
    '/theme.js',
    '/docs',
    '/docs/style.css',
    '/docs/client-protocol',
    '/sdk/',
    '/reseller/auth',
  ])
    expect([path, (await get(`${prefix}${path}`)).statusCode]).toEqual([path, 200])
  expect((await get(`${prefix}/api/nothing`)).statusCode).toBe(404)
  expect((await get(`${prefix}/nothing`)).statusCode).toBe(404)
})

test('accepts the base path only as whole segments and only once', async () => {
  expect((await get('/tools/keyward')).statusCode).toBe(200)
  for (const path of [
    '/tools/keywardx/api/health',
    '/tools/api/health',
    '/tools/keyward/tools/keyward/api/health',
  ])
    expect([path, (await get(path)).statusCode]).toEqual([path, 404])
})

test('puts every link of a page under the base path and changes nothing else', async () => {
  const { payload } = await get('/reseller/auth')
  expect(payload).toBe(
    '<html data-base="/tools/keyward" lang="en"><link href="/tools/keyward/a.css"><script src="/tools/keyward/theme.js"></script><a href="/tools/keyward/auth">in</a><a href="//x">',
  )
})

test('names the public address in the API reference', async () => {
  const { payload } = await get('/docs')
  expect(payload).toContain('href="/tools/keyward/docs/style.css"')
  expect(payload).not.toMatch(/(href|src)="\/(?!tools\/keyward\/)/)
  expect((await get('/api/openapi.json')).json().servers).toEqual([{ url: 'http://localhost/tools/keyward' }])
})

import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { makeDataDir } from './migrated.ts'
import { callOver, startProcess } from './server-process.ts'

test('a closed server prints a link for the first owner until there is one, and logs it nowhere else', async () => {
  const dataDir = await makeDataDir('keyward-lines-')
  const start = () => startProcess({ DATA_DIR: dataDir, REGISTRATION: 'closed', LOG_LEVEL: 'debug' })
  let server = await start()
  try {
    const printed = /^ {2}owner .* until (\S+): (\S+)\/auth\?tab=sign-up#(kwf_[\w-]{43})$/m
    await expect.poll(() => printed.exec(server.output())).not.toBeNull()
    const [, until = '', url, link = ''] = printed.exec(server.output()) ?? []
    expect(url).toBe(server.url)
    expect(Date.parse(until)).toBeGreaterThan(Date.now() + 23 * 3_600_000)
    const body = { name: 'A', email: 'first@example.com', password: 'secret1', link }
    expect((await callOver(server.url, 'POST', '/auth/register', { body })).status).toBe(201)
    await server.end('SIGTERM')
    expect(server.output().split(link)).toHaveLength(2)
    server = await start()
    await expect.poll(() => server.output()).toContain('sign-up   closed')
    expect(server.output()).not.toContain('kwf_')
  } finally {
    await server.end('SIGTERM')
    rmSync(dataDir, { recursive: true, force: true })
  }
})

const hook = `import { registerHooks } from 'node:module'
registerHooks({ resolve(name, context, next) {
  if (name === 'sodium-native') throw new Error('no build for this machine')
  return next(name, context)
} })`

test.each([
  ['logs that OpenSSL signs where libsodium cannot be loaded', true],
  ['logs nothing about signing otherwise', false],
])('the start %s', async (_name, isMissing) => {
  const dataDir = await makeDataDir('keyward-lines-')
  const flags = isMissing ? ['--import', `data:text/javascript,${encodeURIComponent(hook)}`] : []
  const server = await startProcess({ DATA_DIR: dataDir }, flags)
  try {
    const lines = () => server.output().split('\n')
    expect((await callOver(server.url, 'GET', '/apps')).status).toBe(401)
    // The line of that request is written after those of the start.
    await expect.poll(() => lines().some((line) => line.includes('"msg":"request"'))).toBe(true)
    const logged = lines().filter((line) => line.includes('OpenSSL signs'))
    expect(logged.map((line) => JSON.parse(line).level)).toEqual(isMissing ? [30] : [])
  } finally {
    await server.end('SIGTERM')
    rmSync(dataDir, { recursive: true, force: true })
  }
})

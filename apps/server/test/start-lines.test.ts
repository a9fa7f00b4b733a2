import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { callOver, startProcess } from './server-process.ts'

const warning = 'anyone can register and gets premium: set REGISTRATION=closed or DEFAULT_PLAN=free'
const reachable = { PUBLIC_URL: 'https://keys.example.com', RATE_LIMITS: 'on' }

test.each([
  ['warns about open registration at a public address with premium for everyone', reachable, true],
  ['does not warn when registration is closed', { ...reachable, REGISTRATION: 'closed' }, false],
  ['does not warn when the default plan is free', { ...reachable, DEFAULT_PLAN: 'free' }, false],
  ['does not warn when only this machine can reach the server', { DEFAULT_PLAN: 'premium' }, false],
])('the start %s', async (_name, environment, warns) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-lines-'))
  const server = await startProcess({ DATA_DIR: dataDir, ...environment })
  try {
    expect(server.output().includes(warning)).toBe(warns)
    const isFree = 'DEFAULT_PLAN' in environment && environment.DEFAULT_PLAN === 'free'
    expect(server.output().includes('plan      premium for every account')).toBe(!isFree)
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
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-lines-'))
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

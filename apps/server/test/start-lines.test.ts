import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startProcess } from './server-process.ts'

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

/** @module-tag race */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '@keyward/contract'
import { afterAll, expect, test } from 'vitest'
import { SqliteHandle } from '../src/db/sqlite-handle.ts'
import { callOver, startProcess } from './server-process.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'keyward-import-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const rows: number = limits.importRowsMax
const csv = ['expiresAt,note', ...Array.from({ length: rows }, (_, at) => `2090-01-01,Note ${at}`)].join('\n')

function readAll() {
  const handle = new SqliteHandle(join(dataDir, 'keyward.db'), { readOnly: false })
  try {
    const read = (text: string) => Number(Object.values(handle.prepare(text).get() ?? {})[0] ?? 0)
    return {
      licenses: read('select count(*) from licenses'),
      counted: read('select license_count from apps'),
      inBlocks: read('select sum(n) from license_blocks'),
      recorded: read(`select count(*) * ${rows} from audit where action = 'licenses.imported'`),
    }
  } finally {
    handle.close()
  }
}

test('a kill during an import leaves all of its licenses with their record, or none', async () => {
  const credentials = { email: 'vendor@example.com', password: 'correct horse' }
  const environment = { DATA_DIR: dataDir, DEFAULT_PLAN: 'premium' }
  let server = await startProcess(environment)
  const { token } = (
    await callOver(server.url, 'POST', '/auth/register', { body: { name: 'Vendor', ...credentials } })
  ).json.data
  const { app } = (await callOver(server.url, 'POST', '/apps', { token, body: { name: 'Atlas' } })).json.data
  const body = { app: app._id, csv, dryRun: false }
  const timed = performance.now()
  expect((await callOver(server.url, 'POST', '/licenses/import', { token, body })).json.data.created).toBe(
    rows,
  )
  const tookMs = performance.now() - timed

  let before = rows
  for (const part of [0.3, 0.5, 0.7, 0.9]) {
    const running = callOver(server.url, 'POST', '/licenses/import', { token, body }).catch(() => 'killed')
    await pause(tookMs * part)
    await server.end('SIGKILL')
    const answer = await running
    const { licenses, counted, inBlocks, recorded } = readAll()
    expect([before, before + rows]).toContain(licenses)
    if (answer !== 'killed') expect(licenses).toBe(before + rows)
    expect([counted, inBlocks, recorded]).toEqual([licenses, licenses, licenses])
    before = licenses
    server = await startProcess(environment)
  }
  expect(await server.end('SIGTERM')).toBe(0)
}, 300_000)

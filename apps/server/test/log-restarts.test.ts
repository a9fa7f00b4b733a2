// In the full run: it starts a server several times; others are killed in every run.
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { SqliteHandle } from '../src/db/sqlite/handle.ts'
import { callOver, startProcess } from './server-process.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'keyward-restarts-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))
const path = join(dataDir, 'keyward.db')
const licenses = 40_000

/** How often the log has started anew; SQLite counts in its header. */
function logRestarts(): number {
  const file = openSync(`${path}-wal`, 'r')
  const header = Buffer.alloc(32)
  readSync(file, header, 0, header.length, 0)
  closeSync(file)
  return header.readUInt32BE(12)
}

function withDatabase<T>(work: (handle: SqliteHandle) => T): T {
  const handle = new SqliteHandle(path, { readOnly: false })
  try {
    return work(handle)
  } finally {
    handle.close()
  }
}

test('a kill during a mass deletion, after the log has started anew, loses and tears nothing', async () => {
  const credentials = { email: 'vendor@example.com', password: 'correct horse' }
  let server = await startProcess({ DATA_DIR: dataDir })
  const { token } = (
    await callOver(server.url, 'POST', '/auth/register', { body: { name: 'Vendor', ...credentials } })
  ).json.data
  await callOver(server.url, 'POST', '/apps', { token, body: { name: 'Atlas' } })
  expect(await server.end('SIGTERM')).toBe(0)
  // On a slow machine this process may see the moment too late, when everything is deleted.
  for (let isMidway = false; !isMidway; ) {
    withDatabase(({ database }) =>
      database.exec(`delete from audit where action = 'licenses.slice_deleted';
        insert into licenses (id, owner_id, app_id, key, key_normalized, expires_at, created_at)
        with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${licenses})
        select 'many_' || i, owner_id, id, 'MANY' || i, 'MANY' || i, 9e12, 1 from numbers, apps`),
    )
    server = await startProcess({ DATA_DIR: dataDir })
    const deletion = callOver(server.url, 'DELETE', '/licenses', { token }).catch(() => 'killed')
    let hasEnded = false
    void deletion.finally(() => {
      hasEnded = true
    })
    while (!hasEnded && logRestarts() === 0) await pause(5)
    await server.end('SIGKILL')
    isMidway = (await deletion) === 'killed'
  }

  const kept = withDatabase((handle) => {
    const read = (text: string) => Object.values(handle.prepare(text).get() ?? {})[0]
    expect(read('pragma integrity_check')).toBe('ok')
    const left = Number(read('select count(*) from licenses'))
    const recorded = read(
      "select sum(json_extract(detail, '$.count')) from audit where action = 'licenses.slice_deleted'",
    )
    expect(left).toBe(licenses - Number(recorded))
    for (const counts of ['license_counts', 'license_blocks', 'license_places']) {
      expect(read(`select sum(n) from ${counts}`), counts).toBe(left)
    }
    expect(read('select license_count from apps')).toBe(left)
    return left
  })
  expect(kept).toBeGreaterThan(0)
  expect(kept).toBeLessThan(licenses)

  server = await startProcess({ DATA_DIR: dataDir })
  const { json } = await callOver(server.url, 'DELETE', '/licenses', { token })
  expect(json.data.deletedCount).toBe(kept)
  expect(await server.end('SIGTERM')).toBe(0)
})

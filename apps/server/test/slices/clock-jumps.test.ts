// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterEach, expect, test } from 'vitest'
import { day } from '../../src/core/clock.ts'
import { readMeta } from '../../src/db/meta.ts'
import { signUp } from '../actors.ts'
import { eventually } from '../eventually.ts'
import { startServer, TestClock, type TestServer } from '../harness.ts'

let on: TestServer
afterEach(() => on.close())

/** Keeps the files. */
async function stop() {
  await on.server.close()
  await on.database.close()
}

const sessions = () => on.database.db.selectFrom('owner_sessions').select('id').execute()

test('a start 400 days ahead deletes nothing that has expired, and says so; a right one goes on', async () => {
  const lines: string[] = []
  const options = {
    remindersAfterMs: 1,
    logLevel: 'warn',
    log: { write: (line: string) => void lines.push(line) },
  }
  on = await startServer({}, options)
  const { token } = await signUp(on)
  const seen = String(on.clock.now())
  await eventually(async () => expect(await readMeta(on.database.db, 'clock')).toBe(seen))
  const { dataDir, databaseUrl } = on.config
  const again = { DATA_DIR: dataDir, ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}) }
  await stop()

  const ahead = new TestClock()
  ahead.advance(400 * day)
  on = await startServer(again, { ...options, clock: ahead })
  await eventually(() => expect(lines.join('')).toContain('nothing that has expired is deleted'))
  expect(await sessions()).not.toEqual([])
  expect(await readMeta(on.database.db, 'clock')).toBe(seen)
  await stop()

  on = await startServer(again, options)
  expect((await on.call('GET', '/apps', { token })).status).toBe(200)
})

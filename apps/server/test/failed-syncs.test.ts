import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { callOver, startProcess } from './server-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyward-failed-syncs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const library = join(folder, 'sync.so')
const flag = join(folder, 'fails')
/** Replaces the system's sync, also for SQLite: it fails for the database, but not for its log, while the flag exists. */
const source = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int sync_file(int file, const char *name) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t size = readlink(link, path, sizeof path - 1);
  path[size < 0 ? 0 : size] = 0;
  const char *end = strrchr(path, '/');
  if (access(${JSON.stringify(flag)}, F_OK) == 0 && end && strcmp(end, "/keyward.db") == 0) {
    errno = EIO;
    return -1;
  }
  int (*real)(int) = dlsym(RTLD_NEXT, name);
  return real(file);
}
int fsync(int file) { return sync_file(file, "fsync"); }
int fdatasync(int file) { return sync_file(file, "fdatasync"); }`

/** False without a C compiler. */
function compiles(): boolean {
  if (process.platform !== 'linux') return false
  try {
    const options = ['-shared', '-fPIC', '-x', 'c', '-', '-o', library, '-ldl']
    execFileSync('cc', options, { input: source, stdio: ['pipe', 'ignore', 'ignore'] })
    return true
  } catch {
    return false
  }
}

describe.runIf(compiles())('a disk that does not store the database', () => {
  test('a sync that fails inside of SQLite stops all writes, and the next start recovers from the log', async () => {
    const dataDir = join(folder, 'data')
    const environment = {
      DATA_DIR: dataDir,
      DEFAULT_PLAN: 'premium',
      LD_PRELOAD: library,
      LOG_LEVEL: 'error',
    }
    const start = async () => {
      const started = await startProcess(environment)
      onTestFinished(() => {
        started.process.kill('SIGKILL')
      })
      return started
    }
    const server = await start()
    const vendor = { name: 'Vendor', email: 'vendor@example.com', password: 'correct horse' }
    const { token } = (await callOver(server.url, 'POST', '/auth/register', { body: vendor })).json.data
    const made = await callOver(server.url, 'POST', '/apps', { token, body: { name: 'Atlas' } })
    const body = { app: made.json.data.app._id, expiresAt: '2090-01-01T00:00:00Z', count: 50 }
    const create = async (url: string) => (await callOver(url, 'POST', '/licenses', { token, body })).status
    const total = async (url: string) =>
      (await callOver(url, 'GET', '/licenses?limit=1', { token })).json.data.stats.total

    writeFileSync(flag, '')
    let stored = 0
    // One after the other, nothing is added to the log during a copy, so that SQLite syncs the database itself.
    await expect
      .poll(async () => {
        const status = await create(server.url)
        if (status === 201) stored += body.count
        return status
      })
      .toBe(503)
    rmSync(flag)
    const ready = await callOver(server.url, 'GET', '/ready')
    expect([ready.status, ready.json.message]).toEqual([503, expect.stringContaining('restart the server')])
    expect(await create(server.url)).toBe(503)
    // Long before the server itself syncs the database, because the log starts anew.
    expect(stored).toBeLessThan(5000)
    const seen = await total(server.url)
    // The last one may have been stored when the failure became known.
    expect([stored, stored + body.count]).toContain(seen)
    expect(await server.end('SIGTERM')).toBe(0)
    expect(existsSync(join(dataDir, 'keyward.db-wal'))).toBe(true)

    const again = await start()
    expect([await total(again.url), await create(again.url)]).toEqual([seen, 201])
    expect(await again.end('SIGTERM')).toBe(0)
    expect(existsSync(join(dataDir, 'keyward.db-wal'))).toBe(false)
  })
})

import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { makeDataDir } from './migrated.ts'
import { callOver, startProcess } from './server-process.ts'

test('with SHUTDOWN_DELAY serves while it is not ready, and then ends', async () => {
  const dataDir = await makeDataDir('keyward-shutdown-')
  const server = await startProcess({ DATA_DIR: dataDir, SHUTDOWN_DELAY: '3' })
  try {
    const status = async (path: string) => (await callOver(server.url, 'GET', path)).status
    expect(await status('/ready')).toBe(200)
    const ended = server.end('SIGTERM')
    await expect.poll(() => status('/ready')).toBe(503)
    expect(await status('/ready?for=checks')).toBe(503)
    expect(await status('/config')).toBe(200)
    expect(await ended).toBe(0)
  } finally {
    await server.end('SIGKILL')
    rmSync(dataDir, { recursive: true, force: true })
  }
})

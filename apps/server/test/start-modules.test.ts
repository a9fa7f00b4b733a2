import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { main } from './server-process.ts'

const hook = `import { getCompileCacheDir, registerHooks } from 'node:module'
const urls = []
registerHooks({ load(url, context, next) { urls.push(url); return next(url, context) } })
process.on('exit', () => console.log(JSON.stringify({ urls, cache: getCompileCacheDir() })))`

test('a start loads no modules for later requests only, and caches compiled code for the next start', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-start-'))
  const { PATH = '' } = process.env
  const importHook = `data:text/javascript,${encodeURIComponent(hook)}`
  const child = spawn(process.execPath, ['--import', importHook, main], {
    env: { PATH, DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'error' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  let output = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    if (!output.includes('is ready') && (output + chunk).includes('is ready')) child.kill('SIGTERM')
    output += chunk
  }
  await exited
  rmSync(dataDir, { recursive: true, force: true })
  const last = output.trim().split('\n').at(-1) ?? ''
  const { urls, cache } = JSON.parse(last) as { urls: string[]; cache: string }
  expect(urls.length).toBeGreaterThan(100)
  const late = /node_modules\/(nodemailer|ajv)\/|\/http\/(docs-page|openapi)\.ts$/
  expect(urls.filter((url) => late.test(url))).toEqual([])
  expect(cache).toContain(join('node_modules', '.cache', 'keyward'))
})

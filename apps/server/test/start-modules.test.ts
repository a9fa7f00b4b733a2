import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { main, startProcess } from './server-process.ts'

const cli = fileURLToPath(new URL('../src/cli.mjs', import.meta.url))

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
  const late =
    /node_modules\/(nodemailer|ajv|@simplewebauthn|otpauth|@modelcontextprotocol|hono)\/|\/http\/(docs-page|openapi)\.ts$/
  expect(urls.filter((url) => late.test(url))).toEqual([])
  expect(cache).toContain(join('node_modules', '.cache', 'keyward'))
})

test('other commands than `keyward mcp` load nothing of its protocol', async () => {
  const importHook = `data:text/javascript,${encodeURIComponent(hook)}`
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, ['--import', importHook, cli, '--help'], { env: { PATH } })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  expect(await once(child, 'close')).toEqual([0, null])
  const { urls } = JSON.parse(output.trim().split('\n').at(-1) ?? '') as { urls: string[] }
  expect(urls.length).toBeGreaterThan(100)
  expect(urls.filter((url) => /@modelcontextprotocol|hono|\/src\/mcp\//.test(url))).toEqual([])
})

const compilerHook = `import { isMainThread } from 'node:worker_threads'
process.on('exit', () => {
  const isLoaded = process.moduleLoadList.some((name) => name.includes('amaro'))
  if (!isMainThread) return
  console.log('TypeScript compiler: ' + isLoaded)
  console.log('cache of threads: ' + process.env.NODE_COMPILE_CACHE)
})`

test('a start with compiled code does not load the TypeScript compiler, and its threads read that code, too', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'keyward-start-'))
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(compilerHook)}`]
  const servers: string[] = []
  for (let start = 0; start < 2; start += 1) {
    const server = await startProcess({ DATA_DIR: dataDir, HOST: '127.0.0.1' }, flags)
    await server.end('SIGTERM')
    servers.push(server.output())
  }
  rmSync(dataDir, { recursive: true, force: true })
  expect(servers[1]).toContain('TypeScript compiler: false')
  expect(servers[1]).toMatch(/cache of threads: .*node_modules.\.cache.keyward/)
})

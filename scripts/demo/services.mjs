import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { stripVTControlCharacters, styleText } from 'node:util'

const color = (style, text) => (process.stdout.isTTY ? styleText(style, text) : text)

let chapters = 0

export function chapter(title) {
  console.log(`\n${color('bold', `${++chapters}. ${title}`)}`)
}

export function say(text) {
  console.log(`   ${text}`)
}

const quote = (line) => console.log(`   ${color('dim', '│')} ${line}`)

/** Finds a free loopback port. */
export async function findPort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Starts a program that prints its address when ready. */
async function startService(node, script, env) {
  const child = spawn(node, [script], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const baseUrl = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (status) => reject(new Error(`${script} exited with status ${status}`)))
    createInterface(child.stdout).on('line', (line) => {
      const [address] = /http:\/\/\S+/.exec(stripVTControlCharacters(line)) ?? []
      if (address) resolve(address)
    })
  })
  return {
    baseUrl,
    async stop() {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** Starts the server and resolves once its database responds. */
export async function startServer(node, script, settings) {
  const env = { ...process.env, HOST: '127.0.0.1', LOG_LEVEL: 'error' }
  for (const name of ['DATABASE_URL', 'PUBLIC_URL', 'TRUST_PROXY', 'REGISTRATION', 'SMTP_URL'])
    delete env[name]
  const server = await startService(node, script, { ...env, ...settings })
  const ready = await fetch(`${server.baseUrl}/api/ready`)
  if (!ready.ok) throw new Error(`The server is not ready: ${ready.status}`)
  return server
}

/** Starts the stand-in payment provider; `pay` is the customer's payment. */
export async function startProvider(node, script, settings) {
  const provider = await startService(node, script, { ...process.env, PORT: '0', ...settings })
  return {
    ...provider,
    async pay(key, orderId) {
      const body = JSON.stringify({ key, order_id: orderId })
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${provider.baseUrl}/control/pay`, { method: 'POST', headers, body })
      if (!answer.ok) throw new Error(`The payment was rejected: ${await answer.text()}`)
    },
  }
}

/** Polls until the result is truthy, for ten seconds at most. */
export async function waitFor(what, ask) {
  for (const end = Date.now() + 10_000; Date.now() < end; await pause(100)) {
    const answer = await ask()
    if (answer) return answer
  }
  throw new Error(`Timed out waiting for ${what}`)
}

/** The owner's API; throws on every response except a success. */
export function ownerApi(baseUrl) {
  let token
  return async function call(method, path, body) {
    const headers = { ...(body && { 'content-type': 'application/json' }) }
    if (token) headers.authorization = `Bearer ${token}`
    const response = await fetch(`${baseUrl}/api${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    })
    const answer = await response.json()
    if (!answer.success) throw new Error(`${method} ${path}: ${response.status} ${answer.message}`)
    token ??= answer.data.token
    return answer.data
  }
}

/** Starts the example program and prints its output. */
export function startProgram(script, args, env, cwd) {
  console.log(`   ${color('cyan', `${env.KEYWARD_HWID} $ tally ${args.join(' ')}`)}`)
  const child = spawn(process.execPath, [script, ...args], { cwd, env: { ...process.env, ...env } })
  const waiting = []
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      output += `${line}\n`
      quote(line)
      for (const { text, found } of waiting) if (output.includes(text)) found()
    })
  }
  const end = once(child, 'close').then(([status]) => ({ status, output }))
  return {
    end,
    /** Resolves when the text was printed; rejects if the program exits without it. */
    prints: (text) =>
      Promise.race([
        new Promise((found) => (output.includes(text) ? found() : waiting.push({ text, found }))),
        end.then(() => Promise.reject(new Error(`Tally exited without printing "${text}"`))),
      ]),
    stop: () => child.kill(),
  }
}

/** Starts a cracker's server: it accepts everything but cannot sign. */
export async function startFakeServer() {
  const server = createServer((request, response) => {
    request.resume()
    const data = {
      session: 'x'.repeat(40),
      app: { name: 'Tally', version: '1.0.0' },
      user: { expiresAt: '2099-01-01T00:00:00Z' },
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ success: true, data }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

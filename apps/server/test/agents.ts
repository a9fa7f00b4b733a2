import { spawn } from 'node:child_process'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { expect, onTestFinished } from 'vitest'
import { createServers, toolsFor } from '../src/mcp/agent-server.ts'
import { KeywardApi } from '../src/mcp/keyward-api.ts'
import { quickestOf } from './server-process.ts'

export const cli = quickestOf('src/cli.mjs')
const { PATH = '' } = process.env

// biome-ignore lint/suspicious/noExplicitAny: answers are checked by what the tests read of them
type Data = any

/** A scripted agent. */
export interface Agent {
  client: Client
  /** Calls a tool that must succeed; returns its structured content. */
  call(name: string, input?: object): Promise<Data>
  /** Calls a tool that must fail; returns its sentence. */
  fail(name: string, input?: object): Promise<string>
  /** The names of the listed tools. */
  tools(): Promise<string[]>
}

export function toAgent(client: Client): Agent {
  const send = (name: string, input: object = {}) => client.callTool({ name, arguments: { ...input } })
  return {
    client,
    call: async (name, input) => {
      const { isError, content, structuredContent } = await send(name, input)
      expect(isError, JSON.stringify(content)).not.toBe(true)
      expect(JSON.parse((content[0] as { text: string }).text)).toEqual(structuredContent)
      return structuredContent
    },
    fail: async (name, input) => {
      const { isError, content, structuredContent } = await send(name, input)
      expect(isError).toBe(true)
      expect(structuredContent).toBeUndefined()
      return (content[0] as { text: string }).text
    },
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
  }
}

/** A client of the revision of 2025, or with `auto` of the newest one that the server speaks. */
export const newClient = (mode: 'legacy' | 'auto' = 'legacy') =>
  new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })

interface Key {
  key: string
  apiKey: { permissions: Parameters<typeof toolsFor>[0] }
}

/** An agent in this process, at a server that listens at `url`. */
export async function connectAgent(
  url: string,
  { key, apiKey }: Key,
  { write = false, timeoutMs }: { write?: boolean; timeoutMs?: number } = {},
): Promise<Agent> {
  const api = new KeywardApi({ url, apiKey: key }, timeoutMs)
  const [near, far] = InMemoryTransport.createLinkedPair()
  await createServers(api, toolsFor(apiKey.permissions, write))().connect(far)
  const client = newClient()
  await client.connect(near)
  onTestFinished(() => client.close())
  return toAgent(client)
}

/** An agent that starts `keyward mcp`; `errors` is what the process wrote to its error output. */
export async function startAgent(args: string[], environment: Record<string, string>) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli, 'mcp', ...args],
    env: { PATH, ...environment },
    stderr: 'pipe',
  })
  let errors = ''
  transport.stderr?.on('data', (text) => {
    errors += text
  })
  const client = newClient()
  await client.connect(transport)
  onTestFinished(() => client.close())
  return { ...toAgent(client), pid: transport.pid!, errors: () => errors }
}

/** The process of `keyward mcp` with all that it wrote; ended after a test unless `whenDone` gets its end. */
export function startMcp(
  args: string[],
  environment: Record<string, string>,
  whenDone: (end: () => void) => void = onTestFinished,
) {
  const child = spawn(process.execPath, [cli, 'mcp', ...args], { env: { PATH, ...environment } })
  whenDone(() => void child.kill('SIGKILL'))
  const written = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    written.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    written.stderr += text
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, written, ended }
}

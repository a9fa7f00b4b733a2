import { endpoints } from '@keyward/contract'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { OperatorError } from '../core/operator-error.ts'
import { createServers, toolsFor } from './agent-server.ts'
import { serveHttp } from './http.ts'
import { KeywardApi, type Settings } from './keyward-api.ts'
import { ToolError } from './tool-error.ts'

/** One message with all its arguments; those of tools have at most a few hundred bytes. */
const messageBytesMax = 1_048_576

export interface AgentOptions {
  write: boolean
  /** Instead of standard input and output. */
  http?: { port: number; token: { value: string; isNew: boolean } }
}

/** Asks the server once what the API key may do, and serves the tools for that. */
export async function startAgents(settings: Settings, { write, http }: AgentOptions): Promise<void> {
  const api = new KeywardApi(settings)
  const { permissions, name } = await askForRights(api, settings.url)
  const tools = toolsFor(permissions, write)
  if (tools.length === 0)
    throw new OperatorError(
      'The API key may read neither apps, licenses nor end users, so there is no tool for it.',
    )
  const makeServer = createServers(api, tools)
  if (!http) {
    serveStdio(makeServer, {
      transport: new StdioServerTransport(undefined, undefined, { maxBufferSize: messageBytesMax }),
      maxSubscriptions: 4,
    })
    // What still waits for the server must not keep the process from ending with its client.
    for (const end of ['end', 'close']) process.stdin.once(end, () => api.close())
    return
  }
  const { url } = await serveHttp(makeServer, { port: http.port, token: http.token.value }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error
      throw new OperatorError(`Port ${http.port} is in use.`)
    },
  )
  const lines = [
    `Keyward serves agents at ${url} with the API key "${name}"${write ? '' : ', read-only'}.`,
    ...(http.token.isNew ? [`Authorization: Bearer ${http.token.value}`] : []),
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
}

async function askForRights(api: KeywardApi, url: string) {
  try {
    return (await api.begin().call(endpoints.apiKeys.current)).data.apiKey
  } catch (error) {
    if (error instanceof ToolError) throw new OperatorError(`KEYWARD_URL is ${url}. ${error.message}`)
    throw error
  }
}

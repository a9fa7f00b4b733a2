import { randomBytes } from 'node:crypto'
import { OperatorError } from '../core/operator-error.ts'
import { type Environment, readSettings, secretOf } from './api-settings.ts'
import { command, UsageError } from './command.ts'

type McpOptions = { write?: boolean; http?: string }

export const mcpCommand = command<McpOptions>({
  name: 'mcp',
  forms: [
    {
      form: 'mcp [--write] [--http PORT]',
      does: [
        'serve agents (Model Context Protocol) on standard input and',
        'output: find licenses and end users, explain refusals. The server',
        'is KEYWARD_URL, the rights are those of KEYWARD_API_KEY',
      ],
      options: [
        ['[--write]', 'let them create, extend, ban, and free devices, too'],
        ['[--http PORT]', 'serve them over HTTP on this machine instead'],
      ],
    },
  ],
  options: { write: { type: 'boolean' }, http: { type: 'string' } },
  run: (args, options) => serveAgents(args, options, process.env),
})

/** Serves agents until standard input ends, or over HTTP until the process is ended. */
async function serveAgents(
  args: string[],
  { write = false, http }: McpOptions,
  environment: Environment,
): Promise<void> {
  if (args.length > 0) throw new UsageError('Usage: keyward mcp [--write] [--http PORT]')
  const port = http === undefined ? undefined : toPort(http)
  const settings = readSettings(environment)
  const token = readToken(environment)
  // Loaded here, because no other command needs the protocol.
  const { startAgents } = await import('../mcp/start.ts')
  await startAgents(settings, { write, ...(port === undefined ? {} : { http: { port, token } }) })
}

function toPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError('--http takes a port from 0 to 65535; 0 takes a free one.')
}

interface Token {
  value: string
  /** Made for this start, so it has to be shown. */
  isNew: boolean
}

function readToken(environment: Environment): Token {
  const value = secretOf(environment, 'KEYWARD_MCP_TOKEN')
  if (value === undefined) return { value: randomBytes(32).toString('base64url'), isNew: true }
  if (!/^[\x21-\x7e]{32,200}$/.test(value))
    throw new OperatorError('KEYWARD_MCP_TOKEN: must have 32 to 200 visible characters without spaces')
  return { value, isNew: false }
}

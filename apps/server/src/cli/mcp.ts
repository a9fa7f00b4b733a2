import { randomBytes } from 'node:crypto'
import { loopback } from '../config.ts'
import { readSecret } from '../config-files.ts'
import { isApiKey } from '../core/api-key.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Settings } from '../mcp/keyward-api.ts'
import { command, UsageError } from './command.ts'

type McpOptions = { write?: boolean; http?: string }

type Environment = Record<string, string | undefined>

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

function readSettings(environment: Environment): Settings {
  const url = URL.parse(environment.KEYWARD_URL || 'http://127.0.0.1:3000')
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new OperatorError(
      'KEYWARD_URL: must be the address of the Keyward server, such as https://licenses.example.com',
    )
  if (url.protocol === 'http:' && !loopback.test(url.hostname))
    throw new OperatorError('KEYWARD_URL: must be an https address, because the API key is sent to it')
  const apiKey = secretOf(environment, 'KEYWARD_API_KEY')
  if (apiKey === undefined)
    throw new OperatorError(
      'KEYWARD_API_KEY: is required. The owner creates an API key in the console, under Settings.',
    )
  if (!isApiKey(apiKey))
    throw new OperatorError('KEYWARD_API_KEY: is not an API key (kwa_…) or has a typing mistake')
  return { url: url.href.replace(/\/+$/, ''), apiKey }
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

/** A secret of a variable, or of the file that `…_FILE` names. */
function secretOf(environment: Environment, name: string): string | undefined {
  const [value, file] = [environment[name] || undefined, environment[`${name}_FILE`] || undefined]
  if (file === undefined) return value
  const mistakes = value === undefined ? [] : [`${name}: is set together with ${name}_FILE; keep one`]
  const read = readSecret(`${name}_FILE`, file, mistakes)
  if (mistakes[0] !== undefined) throw new OperatorError(mistakes[0])
  return read
}

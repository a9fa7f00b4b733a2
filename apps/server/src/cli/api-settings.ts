import { loopback } from '../config.ts'
import { readSecret } from '../config-files.ts'
import { isApiKey } from '../core/api-key.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Settings } from '../mcp/keyward-api.ts'

export type Environment = Record<string, string | undefined>

/** The server that a command calls, and its API key, which is no argument: other users of a machine can see those. */
export function readSettings(environment: Environment): Settings {
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

/** A secret of a variable, or of the file that `…_FILE` names. */
export function secretOf(environment: Environment, name: string): string | undefined {
  const [value, file] = [environment[name] || undefined, environment[`${name}_FILE`] || undefined]
  if (file === undefined) return value
  const mistakes = value === undefined ? [] : [`${name}: is set together with ${name}_FILE; keep one`]
  const read = readSecret(`${name}_FILE`, file, mistakes)
  if (mistakes[0] !== undefined) throw new OperatorError(mistakes[0])
  return read
}

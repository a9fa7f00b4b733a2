import { readFileSync } from 'node:fs'

const secrets = [
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'DATABASE_URL',
  'RAZORPAY_KEY_SECRET',
  'RAZORPAY_WEBHOOK_SECRET',
  'SMTP_URL',
  'METRICS_TOKEN',
]

/** Variables that name a file which holds a secret. */
export const fileVariables = secrets.map((name) => `${name}_FILE`)

/** The environment with secrets read from their files; an empty variable counts as unset. Adds a line for each mistake. */
export function withSecretFiles(environment: Record<string, string | undefined>, mistakes: string[]) {
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  for (const name of secrets) {
    const path = env[`${name}_FILE`]
    if (path === undefined) continue
    if (env[name] !== undefined) mistakes.push(`${name}: is set together with ${name}_FILE; keep one`)
    else env[name] = readSecret(`${name}_FILE`, path, mistakes)
  }
  return env
}

/** The content of a file that holds a secret; adds a line if it cannot be read. */
export function readSecret(name: string, path: string, mistakes: string[]): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    mistakes.push(`${name}: ${isMissing ? 'there is no file at this path' : 'the file cannot be read'}`)
    return undefined
  }
}

import { fileURLToPath } from 'node:url'
import { buildApp } from './app.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { SecretKeyError } from './core/secret-key.ts'
import { SchemaTooNewError } from './db/migrate.ts'
import { prepare } from './prepare.ts'

/** Requests that are under way get this long to end. */
const drainMs = 10_000
const consoleDir = fileURLToPath(new URL('../../console/dist', import.meta.url))

async function main(): Promise<void> {
  const config = readConfig(process.env)
  const { database, seal } = await prepare(config)
  const server = await buildApp({ config, database, seal, consoleDir, logLevel: process.env.LOG_LEVEL })
  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(1), drainMs).unref()
    await server.close()
    await database.close()
    process.exit(0)
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  await server.listen({ port: config.port, host: config.host })
  const [address] = server.addresses() as { port: number }[]
  say(config, address?.port ?? config.port)
}

function say(config: Config, port: number): void {
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  const payments = { mock: 'simulated', razorpay: 'Razorpay', off: 'off' }[config.payments.mode]
  const lines = [
    `Keyward is ready: ${config.publicUrl ?? `http://${host}:${port}`}`,
    `  data      ${config.databaseUrl ? 'PostgreSQL' : config.dataDir}`,
    `  payments  ${payments}`,
    `  mail      ${config.smtpUrl ? 'by SMTP' : 'to this log'}`,
    ...(config.payments.mode === 'razorpay' && !config.payments.webhookSecret
      ? ['  webhooks  refused: RAZORPAY_WEBHOOK_SECRET is not set; payments are looked for every few minutes']
      : []),
    ...(config.rateLimits === 'off' ? ['  limits    off: sign-in attempts are not counted'] : []),
    ...(config.registration === 'closed' ? ['  sign-up   closed'] : []),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** What an operator can mend is told in plain lines; anything else with its stack. */
function explain(error: unknown): string {
  if (error instanceof ConfigError)
    return error.mistakes.map((mistake) => `Configuration: ${mistake}`).join('\n')
  if (error instanceof SecretKeyError || error instanceof SchemaTooNewError) return error.message
  const { code, message, stack } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `Port ${process.env.PORT ?? 3000} is taken. Set PORT to another one.`
  if (code === 'EACCES') return `Not allowed: ${message}`
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND')
    return 'The database of DATABASE_URL cannot be reached.'
  return stack ?? message
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`)
  process.exit(1)
})

// A server in its own process that begins a backup as soon as it has started; everything else is as in production.
import { buildApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { prepare } from '../src/db/prepare.ts'

const config = readConfig(process.env)
const { database, seal } = await prepare(config)
const backupOptions = { firstMs: 1 }
const server = await buildApp({
  config,
  database,
  seal,
  consoleDir: '/nowhere',
  logLevel: 'error',
  backupOptions,
})
console.log(`Keyward is ready: ${await server.listen({ port: 0, host: '127.0.0.1' })}`)
process.on('SIGTERM', async () => {
  await server.close()
  await database.close()
  process.exit(0)
})

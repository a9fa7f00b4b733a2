import { ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled({ dev: true })
process.exitCode = await run([`${root}/apps/server/test/upgrade/main.ts`, ...process.argv.slice(2)])

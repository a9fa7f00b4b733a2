import { ensureConsole, ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled({ dev: false })
await ensureConsole()
process.exitCode = await run([`${root}/apps/server/src/main.ts`])

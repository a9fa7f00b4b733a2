import { ensureConsole, ensureInstalled } from './ensure.mjs'
import { endWithNpm, serve } from './serve.mjs'

endWithNpm()
ensureInstalled({ dev: false })
await ensureConsole()
if (!process.argv.includes('--install')) process.exitCode = await serve()

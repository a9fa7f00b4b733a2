import { ensureConsole, ensureInstalled } from './ensure.mjs'
import { endWithNpm, serve } from './serve.mjs'

endWithNpm()
ensureInstalled({ dev: false })
await ensureConsole()
process.exitCode = await serve()

// Takes pictures of the pages into screenshots/, which is not committed, and those that README and landing page show.
import { buildSdk, ensureConsole, ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled({ dev: true })
await buildSdk()
await ensureConsole()
const cli = `${root}/node_modules/@playwright/test/cli.js`
process.exitCode = await run([cli, 'test', '--config', 'pictures.config.ts'], { cwd: `${root}/e2e` })

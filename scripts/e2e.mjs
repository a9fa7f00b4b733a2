import { bundleServer } from './bundle-server.mjs'
import { buildSdk, compiled, ensureConsole, ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled({ dev: true })
await buildSdk()
await ensureConsole()
process.exitCode = await run(
  [`${root}/node_modules/@playwright/test/cli.js`, 'test', ...process.argv.slice(2)],
  {
    cwd: `${root}/e2e`,
    env: { ...compiled, TEST_SERVER: await bundleServer() },
  },
)

import { ensureInstalled, root, run } from './ensure.mjs'

ensureInstalled({ dev: true })
const port = process.env.PORT ?? '3000'
const server = run(['--watch', `${root}/apps/server/src/main.mjs`], { env: { PORT: port } })
const console = run([`${root}/node_modules/vite/bin/vite.js`], {
  cwd: `${root}/apps/console`,
  env: { KEYWARD_API: `http://127.0.0.1:${port}` },
})
process.exitCode = await Promise.race([server, console])
process.exit()

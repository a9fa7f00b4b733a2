// Checks format, lint, types, import boundaries, names, dead code, complexity, sizes and published SDKs; needs no database and no browser.
import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { childEnvironment, ensureInstalled, nodePath, root } from './ensure.mjs'

ensureInstalled({ dev: true })
// The tests beside it must not wait for it.
if (process.argv.includes('--beside')) setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
const bin = `${root}/node_modules/.bin`
// Every further checker checks the types of all libraries again, and the other checks occupy the other cores.
const oneChecker = ['--checkers', '1']
const checks = {
  'format and lint': [`${bin}/biome`, ['check', '--error-on-warnings', '.']],
  types: [`${bin}/tsc`, ['--noEmit', ...oneChecker, '-p', root]],
  'types of the console': [`${bin}/tsc`, ['--noEmit', ...oneChecker, '-p', `${root}/apps/console`]],
  'import boundaries': [process.execPath, [`${root}/scripts/boundaries.mjs`]],
  'names and comments': [process.execPath, [`${root}/scripts/words.mjs`]],
  'files written from the contract': [nodePath(), [`${root}/packages/sdk/generate.ts`, '--check']],
  'dead code': [`${bin}/knip`, []],
  'published SDKs': [process.execPath, [`${root}/scripts/published.mjs`]],
  complexity: [nodePath(), [`${root}/scripts/complexity.ts`]],
  'sizes of the console': [process.execPath, [`${root}/scripts/budgets.mjs`]],
}

const results = await Promise.all(
  Object.entries(checks).map(async ([name, [command, args]]) => ({
    name,
    ...(await collect(command, args)),
  })),
)
for (const { name, code, output } of results) {
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name}`)
  if (code !== 0) console.log(output)
}
process.exitCode = results.some(({ code }) => code !== 0) ? 1 : 0

function collect(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, env: childEnvironment({ FORCE_COLOR: '0' }) })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
    child.on('error', (error) => resolve({ code: 1, output: String(error) }))
    child.on('exit', (code) => resolve({ code: code ?? 1, output }))
  })
}

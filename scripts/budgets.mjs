// Compares the gzipped JavaScript of each first view with its budget.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ensureConsole, root } from './ensure.mjs'

const dist = join(root, 'apps', 'console', 'dist')
const landing = 90
const view = 180
const route = 60

const ownerViews = ['dashboard', 'licenses', 'end-users', 'resellers', 'profile', 'settings', 'subscription']
const portalViews = ['dashboard', 'licenses', 'profile']

await ensureConsole()
const manifest = JSON.parse(readFileSync(join(dist, '.vite', 'manifest.json'), 'utf8'))
const entry = 'index.html'
const app = [entry, 'src/app.tsx', 'src/pages/console-root.tsx']

const budgets = [
  {
    name: '/landing',
    parts: [entry, 'src/pages/public/public-frame.tsx', 'src/pages/public/landing.tsx'],
    max: landing,
  },
  { name: '/auth', parts: [...app, 'src/pages/auth.tsx'], max: view },
  { name: '/reseller/auth', parts: [...app, 'src/pages/reseller/auth.tsx'], max: view },
  ...ownerViews.map((name) => ({
    name: `/${name}`,
    parts: [...app, 'src/pages/owner/shell.tsx', `src/pages/owner/${name}.tsx`],
    max: view,
  })),
  ...portalViews.map((name) => ({
    name: `/reseller/${name}`,
    parts: [...app, 'src/pages/reseller/shell.tsx', `src/pages/reseller/${name}.tsx`],
    max: view,
  })),
]
const shell = closure([...app, 'src/pages/owner/shell.tsx'])
// A dialog opens on a page that has already loaded.
const pages = closure(
  ownerViews.map((name) => `src/pages/owner/${name}.tsx`),
  new Set(shell),
)
const lazyParts = Object.keys(manifest)
  .filter((name) => manifest[name].isDynamicEntry)
  .map((name) => ({ name, before: name.startsWith('src/pages/') ? shell : pages }))
  .map(({ name, before }) => ({
    name,
    files: [...closure([name])].filter((file) => !before.has(file)),
    max: route,
  }))

const rows = [
  ...budgets.map(({ parts, ...budget }) => ({ ...budget, files: [...closure(parts)] })),
  ...lazyParts,
].map(({ name, files, max }) => ({
  name,
  max,
  kilobytes: files.reduce((sum, file) => sum + gzipped(file), 0) / 1000,
}))
const over = rows.filter(({ kilobytes, max }) => kilobytes > max)
for (const { name, kilobytes, max } of process.argv.includes('--all') ? rows : over) {
  console.log(
    `${kilobytes > max ? 'over  ' : 'within'} ${kilobytes.toFixed(1).padStart(6)} of ${max} kB  ${name}`,
  )
}
process.exitCode = over.length === 0 ? 0 : 1

/** The files that these modules load immediately, without styles. */
function closure(names, seen = new Set()) {
  for (const name of names) {
    const chunk = manifest[name]
    if (!chunk) {
      console.log(`the build has no ${name}; remove it from the budgets`)
      process.exit(1)
    }
    if (seen.has(chunk.file)) continue
    seen.add(chunk.file)
    closure(chunk.imports ?? [], seen)
  }
  return seen
}

function gzipped(file) {
  return gzipSync(readFileSync(join(dist, file)), { level: 9 }).length
}

// Compares the gzipped JavaScript of each first view with its budget, and rejects files that import each other.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ensureConsole, root } from './ensure.mjs'

const dist = join(root, 'apps', 'console', 'dist')
const landing = 90
const signIn = 100
const view = 180
const route = 60
const customerPage = 60
const requests = 25

// A journey counts what the browser requests; this adds up the same without one.
const laterParts = {
  app: ['src/pages/owner/app-overview.tsx', 'src/features/apps/integration/integration-tab.tsx'],
  dashboard: ['src/pages/owner/onboarding.tsx'],
  license: ['src/pages/owner/item-timeline.tsx'],
  'end-user': [
    'src/pages/owner/item-timeline.tsx',
    'src/features/offline-activations/offline-activations.tsx',
  ],
  customer: [
    'src/pages/owner/item-timeline.tsx',
    'src/features/activity/last-refusal.tsx',
    'src/ui/table-keys.ts',
  ],
  licenses: ['src/pages/owner/list-filters.tsx', 'src/ui/table-keys.ts'],
  'end-users': ['src/pages/owner/list-filters.tsx', 'src/ui/table-keys.ts'],
  customers: ['src/pages/owner/list-filters.tsx', 'src/ui/table-keys.ts'],
  resellers: ['src/pages/owner/list-filters.tsx', 'src/ui/table-keys.ts'],
}

/** What each tab of an app's page loads. */
const appTabs = {
  types: ['src/features/apps/types/license-types-tab.tsx'],
  shops: ['src/features/shops/shops-tab.tsx'],
  customers: ['src/features/apps/customers/customers-tab.tsx'],
  mail: ['src/features/apps/mails/buyer-mail.tsx'],
  integration: [
    'src/features/apps/integration/integration-tab.tsx',
    'src/features/compatibility/compatibility-section.tsx',
    'src/features/lazy-move/lazy-move-section.tsx',
  ],
  variables: ['src/features/apps/variables/variables-tab.tsx'],
  releases: ['src/features/releases/releases-tab.tsx'],
  settings: [
    'src/features/apps/settings/settings-tab.tsx',
    'src/features/offline-activations/offline-activations.tsx',
  ],
  texts: ['src/features/apps/texts/error-messages.tsx'],
  history: ['src/pages/owner/item-timeline.tsx'],
}

await ensureConsole()
const manifest = JSON.parse(readFileSync(join(dist, '.vite', 'manifest.json'), 'utf8'))
const customers = JSON.parse(readFileSync(join(dist, '.vite', 'customer.json'), 'utf8'))
const entry = 'index.html'
const app = [entry, 'src/app.tsx', 'src/pages/console-root.tsx']
const ownerViews = viewsOf('owner')
const portalViews = viewsOf('reseller')
const owner = [
  ...app,
  'src/pages/owner/shell.tsx',
  'src/pages/owner/console-extras.tsx',
  'src/pages/connection-status.tsx',
]

const budgets = [
  {
    name: '/landing',
    parts: [entry, 'src/pages/public/public-frame.tsx', 'src/pages/public/landing.tsx'],
    max: landing,
  },
  { name: '/auth', parts: [entry, 'src/pages/sign-in-root.tsx'], max: signIn },
  { name: '/auth/forgot', parts: [...app, 'src/pages/auth.tsx'], max: view },
  { name: '/reseller/auth', parts: [entry, 'src/pages/reseller/sign-in-root.tsx'], max: signIn },
  { name: '/reseller/auth/forgot', parts: [...app, 'src/pages/reseller/auth.tsx'], max: view },
  ...ownerViews.map((name) => ({
    name: `/${name} until idle`,
    parts: [...owner, `src/pages/owner/${name}.tsx`, ...(laterParts[name] ?? [])],
    max: view,
    maxFiles: requests,
  })),
  ...Object.entries(appTabs).map(([tab, parts]) => ({
    name: `/app?tab=${tab} until idle`,
    parts: [...owner, 'src/pages/owner/app.tsx', ...parts],
    max: view,
    maxFiles: requests,
  })),
  ...portalViews.map((name) => ({
    name: `/reseller/${name} until idle`,
    parts: [
      ...app,
      'src/pages/reseller/shell.tsx',
      'src/pages/connection-status.tsx',
      `src/pages/reseller/${name}.tsx`,
    ],
    max: view,
    maxFiles: requests,
  })),
]
const shell = closure([...app, 'src/pages/owner/shell.tsx'])
// A dialog opens on a page that has already loaded, after a gesture, which loads the panels of menus and selects.
const pages = closure(
  ['src/ui/overlay-panels.tsx', ...ownerViews.map((name) => `src/pages/owner/${name}.tsx`)],
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
].map(toRow)
// The page of customers in all of its languages, of which a browser loads one.
const customerFiles = [...new Set(Object.values(customers).map(({ file }) => file))].filter((file) =>
  file.endsWith('.js'),
)
rows.push(toRow({ name: '/u/{appId} in all languages', files: customerFiles, max: customerPage }))
const over = rows.filter((row) => row.over)
for (const row of process.argv.includes('--all') ? rows : over) {
  const size = `${row.kilobytes.toFixed(1).padStart(6)} of ${row.max} kB`
  const count = Number.isFinite(row.maxFiles) ? ` in ${row.files.length} of ${row.maxFiles} files` : ''
  console.log(`${row.over ? 'over  ' : 'within'} ${size}${count}  ${row.name}`)
}
const cycle = findCycle()
if (cycle) console.log(`these files import each other, so the console does not start: ${cycle.join(', ')}`)
process.exitCode = over.length === 0 && !cycle ? 0 : 1

/** The pages of a folder that the router loads, without the frame around them and the page to sign in. */
function viewsOf(folder) {
  return manifest['src/app.tsx'].dynamicImports
    .map((name) => /^src\/pages\/(.+)\/(.+)\.tsx$/.exec(name) ?? [])
    .filter(([, parent, name]) => parent === folder && name !== 'shell' && name !== 'auth')
    .map(([, , name]) => name)
}

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

function toRow({ name, files, max, maxFiles = Number.POSITIVE_INFINITY }) {
  const kilobytes = files.reduce((sum, file) => sum + gzipped(file), 0) / 1000
  return { name, max, maxFiles, files, kilobytes, over: kilobytes > max || files.length > maxFiles }
}

function gzipped(file) {
  return gzipSync(readFileSync(join(dist, file)), { level: 9 }).length
}

/** Files of the build that import each other. Modules in them may run before what they need. */
function findCycle() {
  const done = new Set()
  const path = []
  const visit = (name) => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name].map((one) => manifest[one].file)
    if (done.has(name)) return
    path.push(name)
    for (const next of manifest[name].imports ?? []) {
      const found = visit(next)
      if (found) return found
    }
    path.pop()
    done.add(name)
  }
  for (const name of Object.keys(manifest)) {
    const found = visit(name)
    if (found) return found
  }
}

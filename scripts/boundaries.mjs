// Checks import boundaries and who writes which table, and reports every violation with its rule.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findLooseWrites } from './console-writes.mjs'
import { findEngineFaults } from './engines.mjs'
import { findForeignWrites } from './table-owners.mjs'

const repository = dirname(dirname(fileURLToPath(import.meta.url)))
/** Another root is for tests, which plant violations there. */
const root = process.argv[2] ?? repository

const server = 'apps/server/src/'
const list = `${server}modules/index.ts`
const layerOf = readLayers()
const console_ = 'apps/console/src/'

/** The packages of the repository that each package may import, by their names. */
const dependencies = {
  'packages/contract/': [],
  'packages/sdk/': [],
  'packages/payment-stand-in/': [],
  'apps/console/': ['contract', 'sdk'],
  'apps/server/': ['contract'],
}

/** From the lowest layer to the highest. */
const belowHttp = /^(core|db|service)\//
const engineLibraries = /^(pg|better-sqlite3|node:sqlite)(\/|$)/
const databaseLibraries = /^(kysely|pg|better-sqlite3|node:sqlite)(\/|$)/
const webLibraries = /^(fastify|@fastify\/.*)$/

/** Each rule returns true for an import that breaks it; `to` is a file of the repository or the name of a package. */
const rules = {
  'a package imports by name, and only packages below it': ({ from, to, isFile }) => {
    const [mine, names] = Object.entries(dependencies).find(([folder]) => from.startsWith(folder))
    const name = /^@keyward\/([^/]+)/.exec(to)?.[1]
    return name === undefined ? isFile && !to.startsWith(mine) : !names.includes(name)
  },
  'core, db and service import no routing and no module': ({ from, to }) =>
    belowHttp.test(inside(server, from)) && /^(http|modules)\//.test(inside(server, to)),
  'core imports neither db nor service, and db imports no service': ({ from, to }) =>
    (inside(server, from).startsWith('core/') && /^(db|service)\//.test(inside(server, to))) ||
    (inside(server, from).startsWith('db/') && inside(server, to).startsWith('service/')),
  'core knows no database': ({ from, to }) =>
    inside(server, from).startsWith('core/') && databaseLibraries.test(to),
  'only db imports an engine': ({ from, to }) =>
    from.startsWith(server) &&
    !inside(server, from).startsWith('db/') &&
    (/^db\/(sqlite|postgres)\//.test(inside(server, to)) || engineLibraries.test(to)),
  'http imports no module': ({ from, to }) =>
    inside(server, from).startsWith('http/') && inside(server, to).startsWith('modules/'),
  'http, routes and rules run no queries': ({ from, to }) =>
    databaseLibraries.test(to) &&
    (inside(server, from).startsWith('http/') ||
      (moduleOf(from) !== undefined && /[./](routes|mount|rules)\.ts$/.test(from))),
  'core, db and service know nothing of the web server': ({ from, to }) =>
    webLibraries.test(to) && belowHttp.test(inside(server, from)),
  'a module imports from http only to mount its routes': ({ from, to }) =>
    inside(server, from).startsWith('modules/') &&
    inside(server, to).startsWith('http/') &&
    !/[./](routes|mount|signer|module)\.ts$/.test(from),
  'a module imports its own layer and lower ones': ({ from, to }) => {
    const [mine, theirs] = [moduleOf(from), moduleOf(to)]
    return mine !== undefined && theirs !== undefined && mine !== theirs && rank(theirs) > rank(mine)
  },
  'a module imports no repo, list or routes of another module': ({ from, to }) =>
    moduleOf(from) !== undefined &&
    moduleOf(to) !== undefined &&
    moduleOf(from) !== moduleOf(to) &&
    /[./](repo|list|routes|mount|module)\.ts$/.test(to),
  'only routes and descriptions of modules take parts': ({ from, to }) =>
    to === `${server}modules/module.ts` &&
    moduleOf(from) !== undefined &&
    !/[./](routes|mount|module)\.ts$/.test(from),
  'the list of modules is at the top': ({ from, to }) =>
    to === list && /^(core|db|http|mcp|modules|service)\//.test(inside(server, from)),
  'the folders of a module are entered through the files beside them': ({ from, to }) =>
    moduleOf(to) !== undefined &&
    moduleOf(from) !== moduleOf(to) &&
    /^apps\/server\/src\/modules\/[^/]+\/[^/]+\//.test(to),
  'a service exports nothing of a repo': ({ from, to, isReExport }) =>
    isReExport && /\.service\.ts$/.test(from) && /\.repo\.ts$/.test(to),
  'a feature imports no other feature': ({ from, to }) => {
    const [mine, theirs] = [featureOf(from), featureOf(to)]
    return mine !== undefined && theirs !== undefined && mine !== theirs
  },
  'a feature imports no page': ({ from, to }) =>
    featureOf(from) !== undefined && inside(console_, to).startsWith('pages/'),
  'the page of customers and the console share no file but lib/navigation, lib/browser and the texts': ({
    from,
    to,
  }) => {
    const [mine, theirs] = [isCustomers(from), isCustomers(to)]
    return mine
      ? to.startsWith(console_) && !theirs && !/^lib\/(navigation|browser)\//.test(inside(console_, to))
      : theirs && !to.startsWith(`${console_}customer/texts/`)
  },
  'ui imports only ui and lib': ({ from, to }) =>
    inside(console_, from).startsWith('ui/') && /^(features|pages)\//.test(inside(console_, to)),
  'lib imports lib alone': ({ from, to }) =>
    inside(console_, from).startsWith('lib/') && /^(ui|features|pages)\//.test(inside(console_, to)),
}

const inside = (folder, path) => (path.startsWith(folder) ? path.slice(folder.length) : '')
const isCustomers = (path) => inside(console_, path).startsWith('customer/')
const moduleOf = (path) => /^apps\/server\/src\/modules\/([^/]+)\//.exec(path)?.[1]
const featureOf = (path) => /^apps\/console\/src\/features\/([^/]+)\//.exec(path)?.[1]

function rank(module) {
  const at = layerOf.get(module)
  if (at === undefined) throw new Error(`${list} has no layer for the module ${module}`)
  return at
}

/** The layer of each module, from the lowest, as the server's list of modules says. */
function readLayers() {
  const text = readFileSync(join(repository, list), 'utf8')
  const folders = new Map(
    [...text.matchAll(/^import \{ (\w+) \} from '\.\/([^/]+)\//gm)].map(([, name, folder]) => [name, folder]),
  )
  const layers = /layers\b[^=]*= \[([\s\S]*?)^\]/m.exec(text)?.[1]?.match(/\[[^\]]*\]/g) ?? []
  return new Map(layers.flatMap((one, at) => one.match(/\w+/g).map((name) => [folders.get(name), at])))
}

const files = Object.keys(dependencies).flatMap((folder) => sources(`${folder}src/`))
const imports = files.flatMap((from) => importsOf(from))

const broken = imports.flatMap((one) =>
  Object.entries(rules)
    .filter(([, breaks]) => breaks(one))
    .map(([rule]) => `${one.from} imports ${one.to}\n    rule: ${rule}`),
)
for (const cycle of findCycles(imports))
  broken.push(`${cycle.join('\n    -> ')}\n    rule: no import cycles, type imports included`)

broken.push(...findLooseWrites(root, files))
broken.push(...findForeignWrites(root, files))
broken.push(...findEngineFaults(root, files))

if (broken.length > 0) {
  console.log(broken.join('\n'))
  process.exitCode = 1
}

function sources(folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
}

/** The imports and re-exports of a file, dynamic ones included. */
function importsOf(from) {
  const text = readFileSync(join(root, from), 'utf8')
  const found = [
    ...text.matchAll(/^(import|export)\b[^'"]*?from '([^']+)'|import\('([^']+)'\)|^import '([^']+)'/gm),
  ]
  return found.flatMap(([, kind, named, dynamic, bare]) => {
    const specifier = named ?? dynamic ?? bare
    const isFile = specifier.startsWith('.')
    const to = isFile ? resolve(from, specifier) : specifier
    return to === undefined ? [] : [{ from, to, isFile, isReExport: kind === 'export' }]
  })
}

function resolve(from, specifier) {
  const path = join(root, dirname(from), specifier)
  const file = ['', '.ts', '.tsx']
    .map((ending) => `${path}${ending}`)
    .find((one) => existsSync(one) && statSync(one).isFile())
  return file && relative(root, file).replaceAll('\\', '/')
}

/** One cycle per group of files that import each other. */
function findCycles(edges) {
  const graph = new Map()
  for (const { from, to } of edges) {
    graph.set(from, [...(graph.get(from) ?? []), to])
  }
  const state = new Map()
  const cycles = []
  const visit = (file, path) => {
    state.set(file, 'open')
    for (const next of graph.get(file) ?? []) {
      if (state.get(next) === 'open') cycles.push([...path.slice(path.indexOf(next)), next])
      else if (!state.has(next)) visit(next, [...path, next])
    }
    state.set(file, 'done')
  }
  for (const file of graph.keys()) if (!state.has(file)) visit(file, [file])
  return cycles
}

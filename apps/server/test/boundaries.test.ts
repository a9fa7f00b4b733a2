import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const script = fileURLToPath(new URL('../../../scripts/boundaries.mjs', import.meta.url))
const tableOwners = fileURLToPath(new URL('../../../scripts/table-owners.mjs', import.meta.url))
const contract = 'packages/contract/src'
const sdk = 'packages/sdk/src'
const server = 'apps/server/src'
const console_ = 'apps/console/src'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keyward-boundaries-'))
  for (const name of ['contract', 'sdk', 'payment-stand-in'])
    mkdirSync(join(root, `packages/${name}/src`), { recursive: true })
  mkdirSync(join(root, `${console_}/lib`), { recursive: true })
  write('docs/adr/0002-planted.md', '')
})
afterEach(() => rmSync(root, { recursive: true }))

function write(path: string, text: string) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function check(): { code: number; output: string } {
  try {
    return {
      code: 0,
      output: execFileSync(process.execPath, [script, root], { encoding: 'utf8', stdio: 'pipe' }),
    }
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string }
    if (stderr !== '') throw error
    return { code: status, output: stdout }
  }
}

const byName = 'a package imports by name, and only packages below it'

const apart =
  'the page of customers and the console share no file but lib/navigation, lib/browser and the texts'

const violations: [rule: string, from: string, text: string][] = [
  [apart, `${console_}/customer/a.ts`, "import { x } from '../ui/x.tsx'"],
  [apart, `${console_}/customer/b.ts`, "export { x } from '../pages/x.tsx'"],
  [apart, `${console_}/pages/c.tsx`, "const x = await import('../customer/x.ts')"],
  [byName, `${contract}/a.ts`, "import { x } from '../../../apps/server/src/core/x.ts'"],
  [byName, `${contract}/b.ts`, "import type { x } from '@keyward/server/src/core/x.ts'"],
  [byName, `${contract}/c.ts`, "export { x } from '../../../apps/console/src/ui/x.tsx'"],
  [byName, `${contract}/d.ts`, "import { x } from '@keyward/console'"],
  [byName, `${contract}/e.ts`, "import { x } from '@keyward/sdk'"],
  [byName, `${console_}/lib/b.ts`, "import { x } from '../../../server/src/core/x.ts'"],
  [byName, `${console_}/lib/c.ts`, "const x = await import('@keyward/server/src/core/x.ts')"],
  [byName, `${console_}/lib/d.ts`, "import { x } from '../../../../packages/contract/src/x.ts'"],
  [byName, `${sdk}/a.ts`, "import { x } from '../../../apps/server/src/core/x.ts'"],
  [byName, `${sdk}/b.ts`, "import { x } from '@keyward/console'"],
  [byName, `${sdk}/c.ts`, "import { limits } from '@keyward/contract'"],
  [byName, 'packages/payment-stand-in/src/a.ts', "import { x } from '@keyward/server'"],
  [byName, `${server}/core/c.ts`, "import { x } from '@keyward/payment-stand-in'"],
  [byName, `${server}/core/d.ts`, "import { x } from '../../../console/src/ui/x.tsx'"],
  [
    'core, db and service import no routing and no module',
    `${server}/core/a.ts`,
    "import { x } from '../http/x.ts'",
  ],
  [
    'core, db and service import no routing and no module',
    `${server}/service/a.ts`,
    "import { x } from '../modules/apps/apps.service.ts'",
  ],
  [
    'core imports neither db nor service, and db imports no service',
    `${server}/core/f.ts`,
    "import type { x } from '../db/x.ts'",
  ],
  [
    'core imports neither db nor service, and db imports no service',
    `${server}/core/g.ts`,
    "import { x } from '../service/x.ts'",
  ],
  [
    'core imports neither db nor service, and db imports no service',
    `${server}/db/c.ts`,
    "import type { x } from '../service/x.ts'",
  ],
  ['only db imports an engine', `${server}/http/e.ts`, "const { Client } = await import('pg')"],
  ['only db imports an engine', `${server}/http/f.ts`, "import 'node:sqlite'"],
  [
    'only db imports an engine',
    `${server}/modules/apps/e.service.ts`,
    "import { x } from '../../db/sqlite/x.ts'",
  ],
  ['only db imports an engine', `${server}/service/b.ts`, "export { x } from '../db/postgres/x.ts'"],
  ['only db imports an engine', `${server}/modules/apps/f.service.ts`, "import pg from 'pg'"],
  ['only db imports an engine', `${server}/greeting.ts`, "const { x } = await import('node:sqlite')"],
  ['core knows no database', `${server}/core/e.ts`, "import { sql } from 'kysely'"],
  [
    'core, db and service import no routing and no module',
    `${server}/db/a.ts`,
    "import { x } from '../modules/apps/apps.service.ts'",
  ],
  [
    'http imports no module',
    `${server}/http/a.ts`,
    "import type { x } from '../modules/apps/apps.service.ts'",
  ],
  ['http, routes and rules run no queries', `${server}/http/b.ts`, "import { sql } from 'kysely'"],
  [
    'http, routes and rules run no queries',
    `${server}/http/c.ts`,
    "import type {\n  Kysely,\n} from 'kysely'",
  ],
  ['http, routes and rules run no queries', `${server}/http/d.ts`, "export { sql } from 'kysely'"],
  ['http, routes and rules run no queries', `${server}/http/e.ts`, "const { Client } = await import('pg')"],
  ['http, routes and rules run no queries', `${server}/http/f.ts`, "import 'node:sqlite'"],
  [
    'http, routes and rules run no queries',
    `${server}/modules/apps/a.routes.ts`,
    "import { sql } from 'kysely'",
  ],
  [
    'http, routes and rules run no queries',
    `${server}/modules/apps/a.rules.ts`,
    "import { sql } from 'kysely'",
  ],
  [
    'http, routes and rules run no queries',
    `${server}/modules/apps/a.mount.ts`,
    "import { sql } from 'kysely'",
  ],
  [
    'core, db and service know nothing of the web server',
    `${server}/core/b.ts`,
    "import fastify from 'fastify'",
  ],
  [
    'core, db and service know nothing of the web server',
    `${server}/db/b.ts`,
    "import cors from '@fastify/cors'",
  ],
  [
    'a module imports from http only to mount its routes',
    `${server}/modules/apps/b.service.ts`,
    "import { x } from '../../http/x.ts'",
  ],
  [
    'a module imports its own layer and lower ones',
    `${server}/modules/apps/c.service.ts`,
    "import { x } from '../portal/portal.service.ts'",
  ],
  [
    'a module imports no repo, list or routes of another module',
    `${server}/modules/portal/a.service.ts`,
    "import { x } from '../apps/apps.repo.ts'",
  ],
  [
    'a module imports no repo, list or routes of another module',
    `${server}/modules/portal/b.service.ts`,
    "import { x } from '../apps/apps.list.ts'",
  ],
  [
    'a module imports no repo, list or routes of another module',
    `${server}/modules/portal/c.service.ts`,
    "import { x } from '../apps/routes.ts'",
  ],
  [
    'a module imports no repo, list or routes of another module',
    `${server}/modules/portal/d.service.ts`,
    "import { x } from '../apps/apps.mount.ts'",
  ],
  [
    'a module imports no repo, list or routes of another module',
    `${server}/modules/portal/portal.module.ts`,
    "import { x } from '../apps/apps.module.ts'",
  ],
  [
    'only routes and descriptions of modules take parts',
    `${server}/modules/apps/g.service.ts`,
    "import type { Parts } from '../module.ts'",
  ],
  [
    'the list of modules is at the top',
    `${server}/modules/portal/g.service.ts`,
    "import { modules } from '../index.ts'",
  ],
  [
    'the folders of a module are entered through the files beside them',
    `${server}/modules/dashboard/b.service.ts`,
    "import type { x } from '../program/verdict/x.ts'",
  ],
  [
    'the folders of a module are entered through the files beside them',
    `${server}/app.ts`,
    "const { x } = await import('./modules/program/verdict/x.ts')",
  ],
  [
    'a service exports nothing of a repo',
    `${server}/modules/apps/d.service.ts`,
    "export { x } from './apps.repo.ts'",
  ],
  [
    'a feature imports no other feature',
    `${console_}/features/apps/a.tsx`,
    "import { x } from '../licenses/x.tsx'",
  ],
  ['a feature imports no page', `${console_}/features/apps/b.tsx`, "import { x } from '../../pages/x.tsx'"],
  ['ui imports only ui and lib', `${console_}/ui/a.tsx`, "import { x } from '../features/licenses/x.tsx'"],
  ['ui imports only ui and lib', `${console_}/ui/b.tsx`, "import { x } from '../pages/x.tsx'"],
  ['lib imports lib alone', `${console_}/lib/a.ts`, "const x = () => import('../ui/x.tsx')"],
  ['no import cycles, type imports included', `${server}/http/x.ts`, "import type { y } from './y.ts'"],
]

const everyTable = 'every table has an owner'
const byOwner = 'a table is written by its owner alone'
const file = (module: string, name: string) => `${server}/modules/${module}/${name}.ts`

const variable = `\${name}`

/** Writes of tables of others, in every form in which the server writes. */
const writes: [path: string, text: string][] = [
  [file('licenses', 'a'), "tx.insertInto('licenses').values(row)"],
  [file('licenses', 'b'), "tx\n    .updateTable('licenses as l')\n    .set({ banned: 1 })"],
  [file('end-users', 'c'), "tx.deleteFrom('clients')"],
  [file('licenses', 'd'), "write.last([prepared.insert(tx, 'licenses', rows)])"],
  [file('variables', 'f'), "await prepared.update(tx, 'clients', change, { id }).later()"],
  [file('devices', 'g'), "updateOf(\n  tx,\n  'clients',\n  binding,\n)"],
  [file('portal', 'h'), 'sql`insert into licenses (id) values (1)`'],
  [file('portal', 'i'), 'sql`\n  update clients set banned = 1`'],
  [file('portal', 'j'), 'sql`UPDATE "clients" AS c SET banned = 1`'],
  [file('portal', 'k'), 'sql`delete from licenses where id = 1`'],
  [file('portal', 'l'), `const name = 'licenses'\n delete from ${variable}`],
  [file('portal', 'm'), `const keys = {\n  licenses: 1,\n}\n update ${variable} set banned = 1`],
  [file('portal', 'n'), "const table = 'licenses'\ntx.deleteFrom(table)"],
  [file('portal', 'o'), 'prepared.insert(tx, table, rows).later()'],
  [file('account', 'p'), "tx.insertInto('meta')"],
  [`${server}/service/q.ts`, "tx.insertInto('audit')"],
  [`${server}/db/r.ts`, "tx.updateTable('licenses')"],
  [`${server}/cli.ts`, "tx.updateTable('owners')"],
]

const source = '// ADR 2: planted.\nexport const x = 1'
const imported = [
  `${server}/db/sqlite/x.ts`,
  `${server}/db/postgres/x.ts`,
  `${contract}/x.ts`,
  `${server}/core/x.ts`,
  `${server}/modules/apps/apps.list.ts`,
  `${server}/modules/apps/apps.mount.ts`,
  `${server}/modules/apps/apps.module.ts`,
  `${server}/modules/index.ts`,
  `${server}/modules/module.ts`,
  `${server}/modules/apps/routes.ts`,
  `${server}/db/x.ts`,
  `${server}/service/x.ts`,
  `${server}/modules/apps/apps.service.ts`,
  `${server}/modules/apps/apps.repo.ts`,
  `${server}/modules/portal/portal.service.ts`,
  `${server}/modules/program/verdict/x.ts`,
  `${server}/modules/program/program.service.ts`,
  `${console_}/customer/x.ts`,
  `${console_}/features/licenses/x.tsx`,
  `${console_}/pages/x.tsx`,
  `${console_}/ui/x.tsx`,
]

test('reports each planted violation with its rule, and nothing else', () => {
  for (const path of imported) write(path, source)
  write(`${server}/http/y.ts`, "import { x } from './x.ts'")
  for (const [, from, text] of violations) write(from, text)
  const { code, output } = check()
  expect(code).toBe(1)
  const reported = [...output.matchAll(/^(\S+)(?: imports \S+|\n {4}-> .*)+\n {4}rule: (.*)$/gm)]
  const found = reported.map(([, from, rule]) => `${from}: ${rule}`)
  const expected = violations.map(([rule, from]) => `${from}: ${rule}`)
  expect(expected.filter((one) => !found.includes(one))).toEqual([])
  expect(found).toHaveLength(expected.length)
})

test('reports each write of a table by another than its owner', () => {
  for (const path of imported) write(path, source)
  for (const [path, text] of writes) write(path, text)
  write(`${server}/db/tables/x.ts`, 'export interface XTables {\n  licenses: A\n  unowned: B\n}\n')
  const reported = [...check().output.matchAll(/^(\S+) (?:writes|declares) .*\n {4}rule: (.*)$/gm)]
  const expected = writes.map(([path]) => `${path}: ${byOwner}`)
  expected.push(`${server}/db/tables/x.ts: ${everyTable}`)
  expect(reported.map(([, path, rule]) => `${path}: ${rule}`).sort()).toEqual(expected.sort())
})

test('reports each write of the console that a second submit would repeat', () => {
  for (const path of imported) write(path, source)
  write(
    `${contract}/licenses.ts`,
    "export const licenses = {\n  list: endpoint({\n    method: 'GET',\n  }),\n  create: endpoint({\n    method: 'POST',\n  }),\n}",
  )
  write(`${console_}/features/licenses/a.ts`, 'call(wire.licenses.create, body)')
  write(`${console_}/features/licenses/b.ts`, 'useMutation(save)')
  write(`${console_}/features/licenses/c.ts`, 'useWrite(() => call(wire.licenses.create, body))')
  write(`${console_}/features/licenses/d.ts`, 'call(wire.licenses.list)')
  const reported = [...check().output.matchAll(/^(\S+) (calls \S+|uses useMutation)\n {4}rule: .*$/gm)]
  expect(reported.map(([, path, what]) => [path, what])).toEqual([
    [`${console_}/features/licenses/a.ts`, 'calls licenses.create'],
    [`${console_}/features/licenses/b.ts`, 'uses useMutation'],
  ])
})

test('accepts writes of the own tables, reads of all, and deletions in db by the name of a table', () => {
  for (const path of imported) write(path, source)
  write(file('entitlements', 'a'), "tx.updateTable('licenses')\nsql`update clients set banned = 1`")
  write(file('sessions', 'a'), `const name = 'owner_sessions'\n delete from ${variable}`)
  write(
    file('portal', 'a'),
    "// Never update licenses set\ntx.selectFrom('licenses')\nhash.update('clients!')",
  )
  write(`${server}/db/a.ts`, `const name = 'licenses'\n delete from ${variable}`)
  write(`${server}/db/migrations/a.ts`, 'sql`update licenses set banned = 0`')
  expect(check()).toEqual({ code: 0, output: '' })
})

test('plants a violation of every rule', () => {
  const rules = [
    ...(readFileSync(script, 'utf8') + readFileSync(tableOwners, 'utf8')).matchAll(
      /^ {2}'([^']+)': \(|rule: ([^`$]+)`/gm,
    ),
  ]
  const names = rules.map(([, checked, ofCycles]) => checked ?? ofCycles)
  const planted = new Set([...violations.map(([rule]) => rule), byOwner, everyTable])
  expect([...planted].sort()).toEqual(names.sort())
})

test('accepts queries in repos and services, and the web server in http', () => {
  for (const path of imported) write(path, source)
  write(`${server}/modules/apps/apps.repo.ts`, "import { sql } from 'kysely'")
  write(
    `${server}/modules/apps/apps.service.ts`,
    "import { x } from './apps.repo.ts'\nimport { sql } from 'kysely'",
  )
  write(`${server}/db/open.ts`, "import pg from 'pg'\nimport { limits } from '@keyward/contract'")
  write(`${console_}/lib/a.ts`, "import { releases } from '@keyward/contract/releases'")
  write(`${server}/http/a.ts`, "import fastify from 'fastify'\nimport { z } from '../db/open.ts'")
  expect(check()).toEqual({ code: 0, output: '' })
})

test('refuses a module without a layer', () => {
  for (const path of imported) write(path, source)
  write(`${server}/modules/unknown/unknown.service.ts`, "import { x } from '../apps/apps.service.ts'")
  expect(check).toThrow('has no layer for the module unknown')
})

const decided = '// ADR 2: planted.'
const faults: [rule: string, path: string, text: string][] = [
  ['a file of an engine names its ADR in a comment', 'db/sqlite/a.ts', "const text = 'ADR 2'"],
  ['a file of an engine names its ADR in a comment', 'db/postgres/backup/a.ts', '/** Reads. */'],
  ['a named ADR exists', 'db/postgres/b.ts', '// ADR 3: planted.'],
  ['only db knows the engine', 'modules/apps/a.service.ts', "const isEmbedded = ctx.engine === 'sqlite'"],
  ['only db knows the engine', 'service/a.ts', 'if (isPostgres(db)) lock(db)'],
  [
    'only db knows the engine',
    'modules/apps/a.list.ts',
    "const isFast = syntaxOf(db).searchIndex === 'trigrams'",
  ],
  ['only db knows the engine', 'http/a.ts', 'const { dialect } = database'],
  ['only db knows the engine', 'modules/apps/b.repo.ts', 'if (syntaxOf(tx).locksRows) lock(tx)'],
  ['only db knows the engine', 'modules/apps/c.repo.ts', 'const ids = "json_each(?)"'],
  ["an exception for an engine's name is needed", 'config-database.ts', '// PostgreSQL by DATABASE_URL'],
]

test('refuses engines outside of db, and files of an engine without their ADR', () => {
  for (const [, path, text] of faults) write(`${server}/${path}`, text)
  const { output } = check()
  const reported = [...output.matchAll(/^(\S+).*\n {4}rule: (.*)$/gm)].map(([, path, rule]) => [rule, path])
  expect(reported.sort()).toEqual(faults.map(([rule, path]) => [rule, `${server}/${path}`]).sort())
})

test('accepts engines in db and in comments, and operator texts that name one', () => {
  write(`${server}/db/open.ts`, "const dialect = 'sqlite'")
  write(`${server}/db/sqlite/a.ts`, `${decided}\nexport const x = 1`)
  write(`${server}/modules/apps/a.service.ts`, '// On PostgreSQL it takes a round trip.\nexport const x = 1')
  write(`${server}/config-database.ts`, "export const text = 'postgres://'")
  expect(check()).toEqual({ code: 0, output: '' })
})

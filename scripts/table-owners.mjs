import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const server = 'apps/server/src/'

/** Each table has one owner, a module or a folder of the server: it alone inserts, updates and deletes the table's rows. */
const owners = readOwners(dirname(dirname(fileURLToPath(import.meta.url))))

/** A record queues its events in its own transaction, logs go with their vendor, and a lost key replaces all of an app at once. */
const exceptions = {
  [`${server}db/record-rows.ts`]: ['webhook_deliveries'],
  [`${server}db/deletions.ts`]: ['webhook_deliveries'],
  [`${server}modules/system/lost-key.operator.ts`]: ['apps', 'signing_keys'],
}

/** Calls such as `updateTable('x')` and `prepared.insert(tx, 'x')`, and statements in SQL; the last group is not a name. */
const writes = [
  /\b(?:insert|update|delete|replace|merge)\w*\(\s*(?:[\w.]+,\s*)?'(\w+)(?: as \w+)?'/gi,
  /(?:\b(?:insertInto|updateTable|deleteFrom|replaceInto|mergeInto)|\bprepared\.(?:insert|update))(\()(?!\s*(?:[\w.]+,\s*)?')/g,
  /\b(?:insert|replace|merge)\s+into\s+"?(\w+|\$)/gi,
  /\bdelete\s+from\s+"?(\w+|\$)/gi,
  /\bupdate\s+"?(\w+|\$)[^\s"]*"?(?:\s+(?:as\s+)?\w+)?\s+set\b/gi,
]

/** Writes of tables by others than their owners, and tables without one. */
export function findForeignWrites(root, files) {
  const found = files
    .filter((file) => file.startsWith(server) && !file.startsWith(`${server}db/migrations/`))
    .flatMap((file) =>
      tablesWrittenBy(file, withoutComments(readFileSync(join(root, file), 'utf8')))
        .filter((table) => owners.get(table) !== partOf(file) && !exceptions[file]?.includes(table))
        .map((table) => `${file} writes ${table}\n    rule: a table is written by its owner alone`),
    )
  const unowned = declaredTables(root)
    .filter(({ table }) => !owners.has(table))
    .map(({ file, table }) => `${file} declares ${table}\n    rule: every table has an owner`)
  return [...found, ...unowned]
}

function tablesWrittenBy(file, text) {
  const names = writes.flatMap((write) => [...text.matchAll(write)].map((match) => match[1]))
  const written = names.filter((name) => owners.has(name))
  // Which table a variable names is unknown: it can be each one that the file names. Functions of `db` take the name.
  const isVariable = names.some((name) => !/^\w/.test(name)) && !file.startsWith(`${server}db/`)
  if (isVariable) {
    const words = [...text.matchAll(/'(\w+)'|^\s*(\w+):/gm)].map(([, quoted, key]) => quoted ?? key)
    const named = words.filter((word) => owners.has(word))
    written.push(...(named.length > 0 ? named : ['an unknown table']))
  }
  return [...new Set(written)]
}

/** The tables in the description of each module, and of `db` and `service`. */
function readOwners(repository) {
  const names = new Set(declaredTables(repository).map(({ table }) => table))
  const modules = readdirSync(join(repository, `${server}modules`), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => [name, `modules/${name}/${name}.module.ts`])
  const all = [['db', 'db/owned-tables.ts'], ['service', 'service/owned-tables.ts'], ...modules]
  const owned = all.flatMap(([owner, file]) => {
    const text = readFileSync(join(repository, server, file), 'utf8')
    const tables = /^ {2}tables: \{(?:\n[\s\S]*?^ {2}\},|.*\},)$/m.exec(text)?.[0] ?? ''
    const keys = [...tables.matchAll(/(?:^ {4}|^ {2}tables: \{ )(\w+): /gm)].map(([, key]) => key)
    return keys.filter((key) => names.has(key)).map((table) => [table, owner])
  })
  const twice = owned.find(([table], at) => owned.findIndex(([other]) => other === table) < at)
  if (twice) throw new Error(`${twice[0]} has two owners`)
  return new Map(owned)
}

const withoutComments = (text) => text.replace(/^\s*(?:\/\/.*|\/\*[\s\S]*?\*\/)/gm, '')

const partOf = (file) => /^(?:modules\/)?([^/]+)\//.exec(file.slice(server.length))?.[1]

function declaredTables(root) {
  const folder = `${server}db/tables`
  const names = existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : []
  const files = [`${server}db/tables.ts`, ...names.map((name) => `${folder}/${name}`)]
  return files
    .filter((file) => existsSync(join(root, file)))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      const bodies = [...text.matchAll(/^export interface \w*Tables\b[^{]*\{([^}]*)\}/gm)]
      return bodies
        .flatMap(([, body]) => [...body.matchAll(/^ {2}(\w+):/gm)])
        .map(([, table]) => ({ file, table }))
    })
}

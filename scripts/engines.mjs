// Only `db` knows which engine stores the data, and each file of an engine names the decision behind it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const server = 'apps/server/src/'
const engineFile = /^apps\/server\/src\/db\/(sqlite|postgres)\//
const engineWord = /sqlite|postgres|\bdialect\b|json_each|\btrigrams\b|\b(searchIndex|locksRows)\b/i

/** Files outside of `db` that may name an engine, each for a reason. */
const exceptions = {
  'config-database.ts': 'reads the address in DATABASE_URL',
  'cli/backup.ts': 'tells the operator that PostgreSQL has tools of its own',
  'cli/move.ts': 'checks the address of the database to move to',
  'greeting.ts': 'tells the operator where the data is',
}

export function findEngineFaults(root, files) {
  const numbers = decisionsOf(root)
  return files
    .filter((file) => file.startsWith(server))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      return engineFile.test(file) ? findMissingDecision(file, text, numbers) : findMention(file, text)
    })
}

function findMissingDecision(file, text, numbers) {
  const named = /^\s*(?:\/\/|\/?\*).*\bADR (\d+)/m.exec(text)?.[1]
  if (named === undefined) return [`${file}\n    rule: a file of an engine names its ADR in a comment`]
  return numbers.has(Number(named)) ? [] : [`${file} names ADR ${named}\n    rule: a named ADR exists`]
}

function findMention(file, text) {
  const path = file.slice(server.length)
  if (path.startsWith('db/')) return []
  const isNamed = engineWord.test(withoutComments(text))
  if (isNamed === path in exceptions) return []
  return isNamed
    ? [`${file} names an engine\n    rule: only db knows the engine`]
    : [`${file} names no engine\n    rule: an exception for an engine's name is needed`]
}

const withoutComments = (text) =>
  text
    .split('\n')
    .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
    .join('\n')

function decisionsOf(root) {
  const folder = join(root, 'docs/adr')
  return new Set(existsSync(folder) ? readdirSync(folder).map((name) => Number.parseInt(name, 10)) : [])
}

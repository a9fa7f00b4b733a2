import { readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Endpoint, endpoints, messageDefaults } from '@keyward/contract'
import { app } from '@keyward/contract/apps'
import { consolePaths, itemPaths } from '@keyward/contract/console-paths'
import { describe, expect, test } from 'vitest'
import { forms } from '../src/cli/commands.ts'
import { variableNames } from '../src/config.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const specification = readFileSync(`${root}docs/specification.md`, 'utf8')
const coverage = readFileSync(`${root}docs/spec-coverage.md`, 'utf8')

/** Short names of folders, as the coverage defines them. */
const folders = new Map(
  [...coverage.matchAll(/^- `(\w+):` is `([^`]+)`/gm)].map(([, short, folder]) => [short!, folder!]),
)

const notBuilt = 'not built yet'

interface Statement {
  id: string
  text: string
}

const statements: Statement[] = specification.split(/^(?=- `[\w-]+\.[\w-]+` |#)/m).flatMap((part) => {
  const [, id, text] = /^- `([\w-]+\.[\w-]+)` (.+)$/s.exec(part) ?? []
  return id === undefined ? [] : [{ id, text: text!.replace(/\s+/g, ' ').trim() }]
})

interface Row {
  line: number
  ids: string[]
  where: string
  proof: string
}

const rows: Row[] = coverage
  .split('\n')
  .map((text, index) => ({ text, line: index + 1 }))
  .filter(
    ({ text }) => text.startsWith('| ') && !text.startsWith('| ---') && !text.startsWith('| Statements'),
  )
  .map(({ text, line }) => {
    const cells = text.split(/(?<!\\)\|/).map((cell) => cell.trim())
    expect(cells.length, `line ${line} has three cells`).toBe(5)
    return { line, ids: codeIn(cells[1]!), where: cells[2]!, proof: cells[3]! }
  })

function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)
}

/** `short:path` and `path`: the code spans that name files. */
function filesIn(cell: string): string[] {
  return codeIn(cell).map((name) => name.replace(/^(\w+):/, (whole, short) => folders.get(short) ?? whole))
}

/** The files of a cell, each with the test titles in quotes after it. */
function testsIn(cell: string): { file: string; names: string[] }[] {
  const found: { file: string; names: string[] }[] = []
  for (const [, span, name] of cell.matchAll(/`([^`]+)`|"([^"]+)"/g)) {
    if (span !== undefined) found.push({ file: filesIn(`\`${span}\``)[0]!, names: [] })
    else found.at(-1)?.names.push(name!)
  }
  return found
}

const isFile = (path: string) => statSync(root + path, { throwIfNoEntry: false })?.isFile() ?? false

/** Unescapes quotes, so that test titles match. */
const sourceOf = (path: string) => readFileSync(root + path, 'utf8').replaceAll("\\'", "'")

describe('every statement of the specification', () => {
  const ids = statements.map(({ id }) => id)

  test('has a unique id', () => {
    expect(ids.length).toBeGreaterThan(200)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  test('has exactly one row in the coverage, and no row names anything else', () => {
    expect(rows.flatMap((row) => row.ids).sort()).toEqual([...ids].sort())
    expect(rows.filter((row) => row.ids.length === 0)).toEqual([])
  })

  test('is in the same section of both documents', () => {
    const inSections = (document: string, statement: RegExp) =>
      document.split(/^(?=## )/m).map((section) => [
        section.split('\n')[0],
        [...section.matchAll(statement)]
          .flatMap(([line]) => codeIn(line))
          .filter((code) => ids.includes(code))
          .sort(),
      ])
    expect(inSections(coverage, /^\| `[^|]+/gm).slice(1)).toEqual(
      inSections(specification, /^- `[^`]+`/gm).slice(1),
    )
  })

  test('is marked as not built exactly where the coverage says so', () => {
    const said = statements.filter(({ text }) => text.startsWith(`*${notBuilt}*`)).map(({ id }) => id)
    expect(said).toEqual(rows.filter(({ where }) => where === notBuilt).flatMap((row) => row.ids))
  })

  test('has its exact texts in the sources, word for word', () => {
    const texts = sources('apps/console/src') + sources('packages/contract/src') + sources('apps/server/src')
    const missing = statements
      .filter(({ text }) => !text.startsWith(`*${notBuilt}*`))
      .flatMap(({ id, text }) =>
        [...text.matchAll(/“([^”]+)”/g)]
          .flatMap(([, exact]) => exact!.split('…'))
          .filter((exact) => !texts.includes(exact.trim()))
          .map((exact) => `${id}: ${exact}`),
      )
    expect(missing).toEqual([])
  })
})

describe('a statement of the specification names', () => {
  /** What the statements name, among them only those whose ids begin so. */
  const named = (...ids: string[]) =>
    statements
      .filter(({ id }) => ids.length === 0 || ids.some((start) => id.startsWith(start)))
      .flatMap(({ text }) => codeIn(text))
  const withBraces = (path: string) => path.replace(/:(\w+)/g, '{$1}')

  test('every call of the API, and no other', () => {
    const calls = Object.values(endpoints)
      .flatMap((group): Endpoint[] => Object.values(group))
      .map(({ method, path }) => `${method} ${withBraces(path)}`)
    const said = new Set(named().filter((code) => /^[A-Z]+ \/\S*$/.test(code)))
    expect(calls.filter((call) => !said.has(call))).toEqual([])
    expect([...said].filter((call) => !calls.includes(call))).toEqual([])
  })

  test('every setting of apps and owners', () => {
    const said = named('app-settings.')
    const all = [...Object.keys(app.shape.settings.shape), ...Object.keys(endpoints.settings.get.data.shape)]
    expect(all.length).toBeGreaterThan(10)
    expect(all.filter((name) => !said.includes(name))).toEqual([])
  })

  test('every page of the console', () => {
    const said = named('routes.')
    const pages = [...Object.values(consolePaths), ...Object.values(itemPaths)].map(withBraces)
    expect(pages.filter((path) => !said.includes(path))).toEqual([])
  })

  test('every command of the command line, and every option', () => {
    const said = named('operator.')
    const typed = forms.map(({ form }) => `keyward ${form.replace(/ \[.*/, '')}`)
    const options = forms
      .flatMap(({ form, options: lines = [] }) => [form, ...lines.map(([option]) => option)])
      .flatMap((text) => text.match(/--[a-z-]+/g) ?? [])
    expect(typed.filter((form) => !said.includes(form))).toEqual([])
    expect(options.filter((option) => !said.join(' ').split(' ').includes(option))).toEqual([])
  })

  test('every environment variable', () => {
    const said = new Set(named('operator.').map((code) => code.split('=')[0]))
    expect(variableNames.filter((name) => !said.has(name))).toEqual([])
  })
})

describe('every row of the coverage', () => {
  test('names its source files, or says that it is not built yet', () => {
    const open = rows.filter(({ where }) => filesIn(where).length === 0 && where !== notBuilt)
    expect(open).toEqual([])
  })

  test('names a test in each file that proves it', () => {
    const open = rows.filter(({ where, proof }) =>
      where === notBuilt
        ? proof !== ''
        : testsIn(proof).length === 0 || testsIn(proof).some(({ names }) => names.length === 0),
    )
    expect(open).toEqual([])
  })

  test('names existing files', () => {
    const missing = rows.flatMap(({ line, where, proof }) =>
      filesIn(`${where} ${proof}`)
        .filter((path) => !isFile(path))
        .map((path) => `line ${line}: ${path}`),
    )
    expect(missing).toEqual([])
  })

  test('is proven by test files', () => {
    const none = rows.flatMap(({ line, proof }) =>
      filesIn(proof)
        .filter((path) => !/\.(test|spec)\.ts$/.test(path))
        .map((path) => `line ${line}: ${path}`),
    )
    expect(none).toEqual([])
  })

  test('names existing tests', () => {
    const missing = rows.flatMap(({ line, proof }) =>
      testsIn(proof).flatMap(({ file, names }) =>
        names
          .filter((name) => !sourceOf(file).includes(name))
          .map((name) => `line ${line}: ${file}: ${name}`),
      ),
    )
    expect(missing).toEqual([])
  })
})

test('every row is proven by `npm test`, or says that only the full run proves it', () => {
  const isFullAlone = ({ file, names }: { file: string; names: string[] }) => {
    const source = sourceOf(file)
    if (source.startsWith('// In the full run')) return true
    // A journey has its tags between its title and its body.
    return names.every((name) => {
      const title = source.indexOf(name)
      const isSkipped = source.slice(0, title).endsWith(".skipIf(!isFull)('")
      return isSkipped || /'@(full|phone-only)'/.test(source.slice(title, source.indexOf('=>', title)))
    })
  }
  const wrong = rows.filter(
    ({ proof }) => proof !== '' && testsIn(proof).every(isFullAlone) !== proof.endsWith('(in the full run)'),
  )
  expect(wrong.map(({ line, ids }) => `line ${line}: ${ids.join(', ')}`)).toEqual([])
})

test('the default texts match the specification', () => {
  const ids = ['messages.defaults', 'messages.models']
  const text = statements
    .filter(({ id }) => ids.includes(id))
    .map((statement) => statement.text)
    .join(' ')
  const specified = [...text.matchAll(/\| `(\w+)` \| “([^”]+)” \|/g)].map(([, key, value]) => [key, value])
  expect(Object.fromEntries(specified)).toEqual(messageDefaults)
})

/** All sources of a folder in one text, without tests. */
function sources(folder: string): string {
  return readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'))
    .map((path) => sourceOf(`${folder}/${path}`).replace(/\s+/g, ' '))
    .join('\n')
}

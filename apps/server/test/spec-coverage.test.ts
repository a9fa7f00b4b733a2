import { readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { messageDefaults } from '@keyward/contract'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const document = readFileSync(`${root}docs/spec-coverage.md`, 'utf8')

/** Short names of folders, as the document itself explains them. */
const folders = new Map(
  [...document.matchAll(/^- `(\w+):` stands for `([^`]+)`/gm)].map(([, short, folder]) => [short!, folder!]),
)

interface Row {
  line: number
  statement: string
  where: string
  proof: string
}

const rows: Row[] = document
  .split('\n')
  .map((text, index) => ({ text, line: index + 1 }))
  .filter(({ text }) => text.startsWith('| ') && !text.startsWith('| ---') && !text.startsWith('| Statement'))
  .map(({ text, line }) => {
    const cells = text.split(/(?<!\\)\|/).map((cell) => cell.trim())
    expect(cells.length, `line ${line} has three cells`).toBe(5)
    return { line, statement: cells[1]!, where: cells[2]!, proof: cells[3]! }
  })

/** `short:path` and `path`, the code spans that name files. */
function filesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)]
    .map(([, name]) => name!)
    .map((name) => name.replace(/^(\w+):/, (whole, short) => folders.get(short) ?? whole))
}

/** "the name of a test" behind the file that holds it. */
function testsIn(cell: string): { file: string; name: string }[] {
  const found: { file: string; name: string }[] = []
  let file: string | undefined
  for (const [, span, name] of cell.matchAll(/`([^`]+)`|"([^"]+)"/g)) {
    if (span !== undefined) file = filesIn(`\`${span}\``)[0]
    else if (file !== undefined) found.push({ file, name: name! })
  }
  return found
}

const isFile = (path: string) => statSync(root + path, { throwIfNoEntry: false })?.isFile() ?? false

/** Test names as the sources write them: quotes may be escaped. */
const sourceOf = (path: string) => readFileSync(root + path, 'utf8').replaceAll("\\'", "'")

test('the document has rows for every section of the specification', () => {
  const sections = [...document.matchAll(/^## (\d)\./gm)].map(([, number]) => Number(number))
  expect(sections).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(rows.length).toBeGreaterThan(200)
})

describe('every row', () => {
  test('says where it lives, or that it is not built yet', () => {
    const open = rows.filter(({ where }) => filesIn(where).length === 0 && where !== 'not built yet')
    expect(open).toEqual([])
  })

  test('says what proves it, or that it is not proven', () => {
    const open = rows.filter(
      ({ where, proof }) =>
        filesIn(proof).length === 0 &&
        !(where === 'not built yet' ? proof === '' : /^not proven/.test(proof)),
    )
    expect(open).toEqual([])
  })

  test('names files that exist', () => {
    const missing = rows.flatMap(({ line, where, proof }) =>
      filesIn(`${where} ${proof}`)
        .filter((path) => !isFile(path))
        .map((path) => `line ${line}: ${path}`),
    )
    expect(missing).toEqual([])
  })

  test('is proven by files that hold tests', () => {
    const none = rows.flatMap(({ line, proof }) =>
      filesIn(proof)
        .filter((path) => !/\.(test|spec)\.ts$/.test(path))
        .map((path) => `line ${line}: ${path}`),
    )
    expect(none).toEqual([])
  })

  test('names tests that are in their files', () => {
    const missing = rows.flatMap(({ line, proof }) =>
      testsIn(proof)
        .filter(({ file, name }) => !sourceOf(file).includes(name))
        .map(({ file, name }) => `line ${line}: ${file}: ${name}`),
    )
    expect(missing).toEqual([])
  })
})

test('every quoted text that is built stands in the sources, word for word', () => {
  const texts = sources('apps/console/src') + sources('packages/contract/src') + sources('apps/server/src')
  const missing = rows
    .filter(({ where }) => where !== 'not built yet')
    .flatMap(({ line, statement }) =>
      [...statement.matchAll(/“([^”]+)”/g)]
        .flatMap(([, text]) => text!.split('…'))
        .filter((text) => !texts.includes(text.trim()))
        .map((text) => `line ${line}: ${text}`),
    )
  expect(missing).toEqual([])
})

test('the default texts are those of the specification', () => {
  const told = rows.flatMap(({ statement }) => {
    const [, key, text] = /^Default text of (\w+): “([^”]+)”$/.exec(statement) ?? []
    return key === undefined ? [] : [[key, text]]
  })
  expect(Object.fromEntries(told)).toEqual(messageDefaults)
})

/** All of a folder's sources in one text, without the tests. */
function sources(folder: string): string {
  return readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'))
    .map((path) => sourceOf(`${folder}/${path}`).replace(/\s+/g, ' '))
    .join('\n')
}

// Compares lines, files, and the files of the server that run for six requests with the committed figures (complexity.json).
// A figure above the committed one fails. `--write` commits what is measured, `--list NAME` prints the files of one request.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { countRequestFiles } from './request-files.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const stored = fileURLToPath(new URL('complexity.json', import.meta.url))
const isTest = (name: string) => /\.test\.tsx?$/.test(name)

const readingMost = 4500
const linesOf = (path: string): number => readFileSync(path, 'utf8').split('\n').length - 1

function sizesOf(folder: string): { files: number; lines: number } {
  const names = readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.(ts|tsx|mjs|css)$/.test(name) && !isTest(name),
  )
  const lines = names.map((name) => linesOf(`${root}${folder}/${name}`))
  return { files: names.length, lines: lines.reduce((sum, n) => sum + n, 0) }
}

const server = sizesOf('apps/server/src')
const console_ = sizesOf('apps/console/src')
const committed: Record<string, number> = JSON.parse(readFileSync(stored, 'utf8'))
const runFor = 'files that run for: '
const limits = Object.entries(committed).map(([name, n]) => [name.replace(runFor, ''), n])
const requests = await countRequestFiles(Object.fromEntries(limits))
const asked = process.argv.indexOf('--list')
if (asked > 0)
  console.log(requests[process.argv[asked + 1] ?? '']?.join('\n') ?? Object.keys(requests).join('\n'))

const measured: Record<string, number> = {
  'lines of the server': server.lines,
  'files of the server': server.files,
  'lines of the console': console_.lines,
  'files of the console': console_.files,
  ...Object.fromEntries(Object.entries(requests).map(([name, files]) => [`${runFor}${name}`, files.length])),
}
/** The files that architecture.md names for a first reading. */
const [, chapter = ''] = readFileSync(`${root}docs/architecture.md`, 'utf8').split(
  /^## Where to begin|^## Layers/m,
)
const firstReading = [...chapter.matchAll(/^\|[^|]*\| `([^`]+)` \|/gm)].map(([, file]) => file ?? '')
const linesToRead = firstReading.reduce((sum, file) => sum + linesOf(root + file), 0)
console.log(
  `lines of a first reading: ${linesToRead} in ${firstReading.length} files (at most ${readingMost})`,
)
if (firstReading.length < 30 || linesToRead > readingMost) process.exitCode = 1

for (const [name, n] of Object.entries(measured)) {
  const limit = committed[name] ?? 0
  const isAbove = n > limit
  console.log(`${isAbove ? 'ABOVE ' : ''}${name}: ${n} (committed ${limit})`)
  if (isAbove && !process.argv.includes('--write')) process.exitCode = 1
}
if (process.argv.includes('--write')) writeFileSync(stored, `${JSON.stringify(measured, null, 2)}\n`)
if (process.exitCode === 1)
  console.log(
    'A commit that needs more removes as much elsewhere, or says why, and commits the new figures with --write.',
  )
process.exit()

// Refuses names and comments that hide what they are about, and reports each with its rule.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Another root is for tests, which plant violations there. */
const root = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)))
const folders = [
  'apps',
  'bench',
  'e2e',
  'examples',
  'packages/contract',
  'packages/payment-stand-in',
  'packages/sdk',
  'scripts',
  'sdks',
]

/** Each rule returns true for a line that breaks it; `before` is the line above. */
const rules = {
  'a name says what its value is': (line) =>
    !/^\s*(\*|\/[/*])/.test(line) &&
    /(\b(const|let|var|function)\s|^|[([{,:=]|\.\.\.)\s*given\s*[,:=)\]}?]/.test(
      line.replace(/'[^']*'|"[^"]*"/g, ''),
    ),
  'a comment begins with its subject': (line, before) =>
    /^\s*(\/\*\*|\/\/\/?|#:?) (<summary>)?(Of|Those|Beside|Only of) /.test(
      /^\s*\/\*\*$/.test(before) ? line.replace(/^\s*\*/, '//') : line,
    ) && !(/^\s*\/\//.test(line) && /^\s*\/\//.test(before)),
}

const broken = folders.flatMap(sources).flatMap((file) => {
  const lines = readFileSync(join(root, file), 'utf8').split('\n')
  return lines.flatMap((line, at) =>
    Object.entries(rules)
      .filter(([, breaks]) => breaks(line, lines[at - 1] ?? ''))
      .map(([rule]) => `${file}:${at + 1}: ${line.trim()}\n    rule: ${rule}`),
  )
})
if (broken.length > 0) {
  console.log(broken.join('\n'))
  process.exitCode = 1
}

function sources(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return /^(node_modules|dist|releases)$/.test(entry.name) ? [] : sources(path)
    return /\.(tsx?|mjs|py|[ch]pp|cs)$/.test(entry.name) ? [path] : []
  })
}

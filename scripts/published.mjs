// Refuses a published SDK whose bytes or digest changed: programs pin them, and `/sdk/` serves them as immutable.
//   node scripts/published.mjs [folder]   checks sdks/releases, or a folder like it
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './ensure.mjs'
import { unzip } from './wheel.mjs'

const folder = process.argv[2] ?? join(root, 'sdks/releases')
const list = 'SHA256SUMS'
const lines = readFileSync(join(folder, list), 'utf8').trim().split('\n')
const published = new Map(lines.map((line) => line.split('  ')).map(([digest, path]) => [path, digest]))

const archives = new Map()

const listed = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')).flatMap(
  ({ version, files, documents = [] }) =>
    [...files, ...documents].map(({ name, sha256 }) => ({ path: `${version}/${name}`, sha256 })),
)
const faults = [
  ...listed
    .filter(({ path, sha256 }) => published.get(path) !== sha256)
    .map(({ path }) => `${path}: index.json and ${list} disagree`),
  ...[...published].flatMap(([path, digest]) => {
    const [version, name] = path.split('/')
    const bytes = filesOf(version)[name]
    if (!bytes) return [`${path} is missing`]
    const found = createHash('sha256').update(bytes).digest('hex')
    return found === digest ? [] : [`${path} is not the published file`]
  }),
  ...removedLines().map((line) => `${list} lost or changed the line "${line}"`),
]
for (const fault of faults) console.error(fault)
if (faults.length > 0) console.error('Raise the version of the SDKs: a published file never changes.')
process.exitCode = faults.length > 0 ? 1 : 0

function filesOf(version) {
  const path = join(folder, `${version}.zip`)
  if (!archives.has(version)) archives.set(version, existsSync(path) ? unzip(readFileSync(path)) : {})
  return archives.get(version)
}

/** Lines that any commit or the working tree removed from the list; none where git or the history is missing. */
function removedLines() {
  const git = (...args) =>
    execFileSync('git', [...args, '--', list], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  try {
    const history = git('log', '--format=', '-p', '--no-renames') + git('diff', 'HEAD')
    return history
      .split('\n')
      .filter((line) => /^-[0-9a-f]{64} /.test(line))
      .map((line) => line.slice(1))
  } catch {
    return []
  }
}

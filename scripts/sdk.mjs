// Packs the TypeScript SDK into one file that `npm install` accepts without a registry.
//   --build-only   builds the SDKs without packing
//   --generate     writes what the SDKs repeat of the contract, and the conformance cases
//   --release      adds every SDK under the current version to sdks/releases, which the server serves
//   --into=FOLDER  with --release: another folder than sdks/releases
//   --replace      with --release: overwrites a version that was never committed
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { writeDocuments } from './documents.mjs'
import { buildSdk, ensureInstalled, packSdk, root, run } from './ensure.mjs'
import { packWheel, zip } from './wheel.mjs'

const into = process.argv.find((option) => option.startsWith('--into='))?.slice('--into='.length)
const releases = into ?? join(root, 'sdks/releases')
const languages = { '.tgz': 'TypeScript and JavaScript', '.whl': 'Python', '.hpp': 'C++', '.cs': 'C#' }
const has = (option) => process.argv.includes(option)

ensureInstalled({ dev: true })
if (has('--generate') || has('--release')) await generate()
if (!has('--generate')) {
  await buildSdk()
  if (has('--release')) release()
  else if (!has('--build-only')) pack()
}

async function generate() {
  const format = ['node_modules/@biomejs/biome/bin/biome', 'format', '--write', 'sdks/vectors']
  for (const [script, ...args] of [['packages/sdk/generate.ts'], ['sdks/vectors/generate.ts'], format]) {
    const code = await run([join(root, script), ...args])
    if (code !== 0) process.exit(code)
  }
}

function pack() {
  const file = packSdk(root)
  console.log(`The SDK is packed. In the folder of your program:\n\n  npm install "${file}"\n`)
}

function named(path) {
  return { name: basename(path), sha256: createHash('sha256').update(readFileSync(path)).digest('hex') }
}

function release() {
  const { version } = JSON.parse(readFileSync(join(root, 'packages/sdk/package.json'), 'utf8'))
  const archive = join(releases, `${version}.zip`)
  if (existsSync(archive) && !has('--replace')) {
    console.error(`Version ${version} exists, and a released version never changes. Raise the version first.`)
    process.exit(1)
  }
  mkdirSync(releases, { recursive: true })
  const folder = mkdtempSync(join(tmpdir(), 'keyward-release-'))
  const paths = [packSdk(folder), packWheel(folder), ...otherLanguages(folder)]
  const files = paths.map((path) => ({ ...named(path), language: languages[/\.\w+$/.exec(path)[0]] }))
  const documents = writeDocuments(folder, version).map(({ path, title }) => ({ ...named(path), title }))
  const packed = [...files, ...documents].map(({ name }) => [name, readFileSync(join(folder, name))])
  writeFileSync(archive, zip(packed))
  rmSync(folder, { recursive: true })
  const index = join(releases, 'index.json')
  const earlier = existsSync(index) ? JSON.parse(readFileSync(index, 'utf8')) : []
  const list = [{ version, files, documents }, ...earlier.filter((one) => one.version !== version)]
  writeFileSync(index, `${JSON.stringify(list, null, 2)}\n`)
  publish(version, [...files, ...documents])
  console.log(`Released ${files.map(({ name }) => name).join(', ')}`)
}

/** Adds the files to the list of digests that `npm run check` holds them to. */
function publish(version, files) {
  const list = join(releases, 'SHA256SUMS')
  const earlier = (existsSync(list) ? readFileSync(list, 'utf8') : '')
    .split('\n')
    .filter((line) => line && !line.includes(`  ${version}/`))
  const added = files.map(({ name, sha256 }) => `${sha256}  ${version}/${name}`)
  writeFileSync(list, `${[...earlier, ...added].join('\n')}\n`)
}

/** SDKs that are one source file. */
function otherLanguages(folder) {
  return ['sdks/cpp/dist/keyward.hpp', 'sdks/csharp/dist/Keyward.cs'].map((path) => {
    const target = join(folder, basename(path))
    copyFileSync(join(root, path), target)
    return target
  })
}

// Builds what runs on a machine without Node, npm, git and network (ADR 91):
//   npm run package                              dist/keyward-<version>-<platform>.tar.gz and its .sha256
//   npm run package -- --platform linux-arm64    for another platform; what is not installed here comes from the npm registry
//   npm run package -- --folder <new folder>     the content alone, not packed
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureConsole, ensureInstalled, nodePath, root, run } from './ensure.mjs'

ensureInstalled({ dev: false })
if (nodePath() === process.execPath) await main()
else process.exitCode = await run([import.meta.filename, ...process.argv.slice(2)])

async function main() {
  const { values } = parseArgs({ options: { platform: { type: 'string' }, folder: { type: 'string' } } })
  const { platforms, runOrThrow } = await import('./package/packages.mjs')
  const { stage } = await import('./package/stage.mjs')
  const platform = values.platform ?? `${process.platform}-${process.arch}`
  if (!Object.hasOwn(platforms, platform)) {
    console.error(`There is no archive for ${platform}, but for ${Object.keys(platforms).join(', ')}.`)
    process.exitCode = 1
    return
  }
  await ensureConsole()
  if (values.folder !== undefined) {
    mkdirSync(values.folder)
    stage(values.folder, platform)
    return
  }
  const target = join(root, 'dist')
  mkdirSync(target, { recursive: true })
  const work = mkdtempSync(join(target, '.package-'))
  process.on('exit', () => rmSync(work, { recursive: true, force: true }))
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const name = `keyward-${version}-${platform}`
  mkdirSync(join(work, name))
  stage(join(work, name), platform)
  const archive = join(target, `${name}.tar.gz`)
  runOrThrow('tar', ['-C', work, ...sameBytes(), '-czf', archive, name], {
    env: { ...process.env, GZIP: '-n' },
  })
  writeDigest(archive)
}

/** Options for the same archive from the same sources, where tar is that of GNU. */
function sameBytes() {
  if (process.platform !== 'linux') return []
  const days = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').match(/\((\d{4}-\d\d-\d\d)\)/)?.[1]
  return [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--mtime=${days}T00:00:00Z`,
    '--mode=u=rwX,go=rX',
  ]
}

function writeDigest(path) {
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex')
  writeFileSync(`${path}.sha256`, `${digest}  ${basename(path)}\n`)
  if (existsSync(path)) console.log(`${path}\nsha256 ${digest}`)
}

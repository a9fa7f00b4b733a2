// Builds what runs on a machine without Node, npm, git and network (ADR 91):
//   npm run package                              dist/keyward-<version>-<platform>.tar.gz and its .sha256
//   npm run package -- --platform linux-arm64    for another platform; what is not installed here comes from the npm registry
//   npm run package -- --deb                     dist/keyward_<version>-<revision>_<architecture>.deb, by dpkg-deb
//   npm run package -- --folder <new folder>     the content alone, not packed
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureConsole, ensureInstalled, nodePath, root, run } from './ensure.mjs'

ensureInstalled({ dev: false })
if (nodePath() === process.execPath)
  await main().catch(({ message }) => {
    console.error(message)
    process.exitCode = 1
  })
else process.exitCode = await run([import.meta.filename, ...process.argv.slice(2)])

async function main() {
  const { values } = parseArgs({
    options: {
      platform: { type: 'string' },
      folder: { type: 'string' },
      deb: { type: 'boolean' },
      revision: { type: 'string', default: '1' },
    },
  })
  const { platforms, runOrThrow } = await import('./package/packages.mjs')
  const { architectures, buildDeb } = await import('./package/deb.mjs')
  const { stage } = await import('./package/stage.mjs')
  const platform = values.platform ?? `${process.platform}-${process.arch}`
  const known = values.deb ? architectures : platforms
  if (!Object.hasOwn(known, platform)) {
    const what = values.deb ? 'Debian package' : 'archive'
    console.error(`There is no ${what} for ${platform}, but for ${Object.keys(known).join(', ')}.`)
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
  const staged = join(work, name)
  mkdirSync(staged)
  stage(staged, platform)
  if (values.deb) {
    const full = `${version}-${values.revision}`
    const file = join(target, `keyward_${full}_${architectures[platform]}.deb`)
    const folder = join(work, 'deb')
    mkdirSync(folder, { mode: 0o755 })
    buildDeb({ folder, staged, file, version: full, platform, seconds: released() / 1000 })
    writeDigest(file)
    return
  }
  const archive = join(target, `${name}.tar.gz`)
  // An option for gzip in the environment keeps the time out of its header.
  const env = { ...process.env, GZIP: '-n' }
  runOrThrow('tar', ['-C', work, ...sameBytes(), '-czf', archive, name], { env })
  writeDigest(archive)
}

/** When the version was released: the time of every file, so that the same sources make the same bytes. */
function released() {
  const day = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').match(/\((\d{4}-\d\d-\d\d)\)/)?.[1]
  return Date.parse(day)
}

/** The options of GNU tar; that of macOS has none of them. */
function sameBytes() {
  if (process.platform !== 'linux') return []
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX']
  return ['--sort=name', `--mtime=@${released() / 1000}`, ...owner]
}

function writeDigest(path) {
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex')
  writeFileSync(`${path}.sha256`, `${digest}  ${basename(path)}\n`)
  console.log(`${path}\nsha256 ${digest}`)
}

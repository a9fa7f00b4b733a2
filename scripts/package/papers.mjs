// What an archive says about the work of others in it: their licenses, and a list for machines.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { licenseOf } from '../../apps/console/notices.ts'
import { factsOf } from './packages.mjs'

/** Parts of packages that have the license file of the whole. */
const wholeOf = (name) => /^(@node-rs\/(argon2|bcrypt))-/.exec(name)?.[1] ?? name

/** The section on the license of a README, for packages without a license file. */
function licenseInReadme(folder) {
  const file = readdirSync(folder).find((name) => /^readme\.md$/i.test(name))
  const text = file ? readFileSync(join(folder, file), 'utf8') : ''
  return /\n#+ *licen[sc]e *\n+([\s\S]*?)(\n#|$)/i.exec(text)?.[1]?.trim() || undefined
}

/** The licenses of the packages, of the runtime and of what is in the console. */
export function noticesOf(folder, packages, runtime) {
  const parts = packages.map((at) => {
    const { name, version, license } = factsOf(at)
    const text =
      licenseOf(at, folder) ??
      licenseOf(`node_modules/${wholeOf(name)}`, folder) ??
      licenseInReadme(join(folder, at))
    if (!text) throw new Error(`${name} has no license text (${license})`)
    return `${name} ${version} (${license})\n\n${text}`
  })
  const node = readFileSync(join(folder, 'runtime/LICENSE'), 'utf8').trim()
  const line = `\n\n${'-'.repeat(80)}\n\n`
  const head =
    'Keyward contains these packages of others, each under its own license. Those of the console are listed in apps/console/dist/third-party-notices.txt.'
  return [head, `Node.js ${runtime.version}\n\n${node}`, ...parts].join(line).concat('\n')
}

/** A list of everything in the archive in the CycloneDX format. */
export function sbomOf(folder, { version, packages, runtime, platform }) {
  const console = readFileSync(join(folder, 'apps/console/dist/third-party-notices.txt'), 'utf8')
  const bundled = [...console.matchAll(/^-{80}\n\n(\S+) (\S+) \((.+)\)$/gm)].map(([, name, of, license]) => ({
    ...{ name, version: of, license },
  }))
  const locked = packages.map(factsOf)
  const all = new Map([...bundled, ...locked].map((one) => [`${one.name}@${one.version}`, one]))
  const components = [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(toLibrary)
  const digest = createHash('sha256').update(JSON.stringify(components)).update(platform).digest('hex')
  const uuid = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `5${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
  ]
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    // Derived from the contents, so that the same sources make the same archive.
    serialNumber: `urn:uuid:${[...uuid, digest.slice(20, 32)].join('-')}`,
    version: 1,
    metadata: {
      component: {
        ...{ type: 'application', 'bom-ref': 'keyward', name: 'keyward', version },
        licenses: [{ license: { id: 'Apache-2.0' } }],
        properties: [{ name: 'keyward:platform', value: platform }],
      },
    },
    components: [
      {
        ...{ type: 'platform', 'bom-ref': 'runtime', name: 'node', version: runtime.version },
        purl: `pkg:generic/node@${runtime.version}`,
        licenses: [{ license: { id: 'MIT' } }],
      },
      ...components,
    ],
  }
}

function toLibrary({ name, version, license, integrity }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const sha512 = integrity && Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex')
  return {
    ...{ type: 'library', 'bom-ref': purl, name, version, purl },
    ...(sha512 ? { hashes: [{ alg: 'SHA-512', content: sha512 }] } : {}),
    licenses: [/ |\//.test(license) ? { expression: license } : { license: { id: license } }],
  }
}

import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { escapeHtml, renderFrame } from './docs-frame.ts'

/** Folder of the released SDKs: a folder per version, which never changes, and `index.json` about all of them. */
const releasesUrl = new URL('../../../../sdks/releases/', import.meta.url)

const releasesSchema = z.array(
  z.object({
    version: z.string(),
    files: z.array(z.object({ name: z.string(), language: z.string(), sha256: z.string() })),
  }),
)
export type SdkRelease = z.infer<typeof releasesSchema>[number]

/** The releases, newest first. */
export const readReleases = (): SdkRelease[] =>
  releasesSchema.parse(JSON.parse(readFileSync(new URL('index.json', releasesUrl), 'utf8')))

/** Lists the SDKs with the command that installs each from this server; `address` is the server's public address. */
export function renderSdks(basePath: string, address: string): string {
  const [newest, ...earlier] = readReleases()
  const main = [
    '<h1>SDKs</h1>',
    '<p>This server serves the SDKs for your programs. A version never changes, so a build that installs one stays the same.</p>',
    newest ? release(newest, basePath, address, 'newest') : '',
    earlier.length > 0 ? '<h2 id="earlier">Earlier versions</h2>' : '',
    ...earlier.map((one) => release(one, basePath, address, one.version)),
    `<p>For any other language: the <a href="${basePath}/docs/client-protocol">protocol</a> describes every byte.</p>`,
  ].join('')
  return renderFrame({
    title: 'SDKs',
    subtitle: 'SDKs',
    description: 'The SDKs that put a program behind a Keyward license, served by this server.',
    basePath,
    nav: `<li><a href="#newest">Newest version</a></li>${earlier.length > 0 ? '<li><a href="#earlier">Earlier versions</a></li>' : ''}<li><a href="${basePath}/docs/client-protocol">Protocol</a></li><li><a href="${basePath}/docs">API reference</a></li>`,
    main,
  })
}

function release({ version, files }: SdkRelease, basePath: string, address: string, id: string): string {
  const parts = files.map(({ name, language, sha256 }) => {
    const path = `/sdk/${version}/${name}`
    return `<article><h3>${escapeHtml(language)} <a href="${basePath}${path}" download>${escapeHtml(name)}</a></h3>
<pre><code>${escapeHtml(installCommand(name, address + path))}</code></pre>
<p>SHA-256 <code>${sha256}</code></p></article>`
  })
  return `<section><h2 id="${escapeHtml(id)}">Version ${escapeHtml(version)}</h2>${parts.join('')}</section>`
}

function installCommand(name: string, url: string): string {
  if (name.endsWith('.tgz')) return `npm install ${url}`
  if (name.endsWith('.whl')) return `pip install ${url}`
  return `curl -fO ${url}`
}

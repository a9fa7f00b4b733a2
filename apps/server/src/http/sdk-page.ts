import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { version } from '../core/version.ts'
import { escapeHtml, renderFrame } from './docs-frame.ts'
import { releasesUrl } from './sdk-files.ts'

const releasesSchema = z.array(
  z.object({
    version: z.string(),
    files: z.array(z.object({ name: z.string(), language: z.string(), sha256: z.string() })),
    documents: z.array(z.object({ name: z.string(), title: z.string(), sha256: z.string() })).default([]),
  }),
)
export type SdkRelease = z.infer<typeof releasesSchema>[number]

/** The releases, newest first. */
export function readReleases(): SdkRelease[] {
  const text = readFileSync(new URL('index.json', releasesUrl), 'utf8')
  return releasesSchema.parse(JSON.parse(text))
}

/** Lists the SDKs with the command that installs each from this server; `address` is the server's public address. */
export function renderSdks(basePath: string, address: string): string {
  const [newest, ...earlier] = readReleases()
  const main = [
    '<h1>SDKs</h1>',
    `<p>This server, Keyward ${version}, serves the SDKs for your programs. A version never changes, so a build that installs one stays the same: compare a downloaded file with its SHA-256, for example by <code>sha256sum</code>.</p>`,
    newest
      ? `<section><h2 id="newest">Version ${escapeHtml(newest.version)}</h2>${files(newest, basePath, address)}</section>`
      : '',
    earlier.length > 0 ? '<h2 id="earlier">Earlier versions</h2>' : '',
    ...earlier.map(
      (one) =>
        `<details id="${escapeHtml(one.version)}"><summary>Version ${escapeHtml(one.version)}</summary>${files(one, basePath, address)}</details>`,
    ),
    `<p>For any other language: the <a href="${basePath}/docs/client-protocol">protocol</a> describes every byte, and <a href="${basePath}/docs/client-protocol#the-storage-file">the file</a> that keeps what outlives a program.</p>`,
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

function files({ version, files, documents }: SdkRelease, basePath: string, address: string): string {
  const parts = files.map(({ name, language, sha256 }) => {
    const path = `/sdk/${version}/${name}`
    const kind = kindOf(name)
    return `<article><h3>${escapeHtml(language)} <a href="${basePath}${path}" download>${escapeHtml(name)}</a></h3>
<pre class="command"><code>${escapeHtml(kind.install(address + path))}</code></pre>
<p>${escapeHtml(kind.needs)}</p>${kind.build ? `<pre class="command"><code>${escapeHtml(kind.build)}</code></pre>` : ''}
<p>SHA-256 <code>${sha256}</code></p></article>`
  })
  return parts.join('') + documentList(version, documents, basePath)
}

function documentList(version: string, documents: SdkRelease['documents'], basePath: string): string {
  if (documents.length === 0) return ''
  const items = documents.map(
    ({ name, title, sha256 }) =>
      `<li><a href="${basePath}/sdk/${version}/${escapeHtml(name)}">${escapeHtml(title)}</a><br>SHA-256 <code>${sha256}</code></li>`,
  )
  return `<h3>To read</h3><ul>${items.join('')}</ul>`
}

interface Kind {
  install(url: string): string
  needs: string
  /** How to compile a program with it. */
  build?: string
}

const kinds: Record<string, Kind> = {
  tgz: {
    install: (url) => `npm install ${url}`,
    needs:
      'Needs Node 18 or newer, Bun, Deno, or a browser with Ed25519 in Web Crypto. Types for TypeScript 4.7 and newer. No dependency.',
  },
  whl: {
    install: (url) => `pip install ${url}`,
    needs: 'Needs Python 3.9 or newer. pip installs its one dependency, cryptography.',
  },
  hpp: {
    install: (url) => `curl -fO ${url}`,
    needs:
      'Needs C++17. One header: Linux and macOS link libcurl (Debian: libcurl4-openssl-dev), Windows the libraries of the system.',
  },
  cs: {
    install: (url) => `curl -fO ${url}`,
    needs: 'Needs .NET Standard 2.0 and C# 7.0. One file without packages, tried on Mono:',
    build: 'mcs -r:System.Net.Http -r:System.Numerics Program.cs Keyward.cs',
  },
}

const kindOf = (name: string): Kind => {
  const kind = kinds[name.slice(name.lastIndexOf('.') + 1)]
  if (!kind) throw new Error(`unknown kind of SDK: ${name}`)
  return kind
}

import { type Endpoint, errorFacts, limits } from '@keyward/contract'
import { z } from 'zod'
import { version } from '../core/version.ts'
import { allEndpoints, bodyLimitOf, errorsOf } from './openapi.ts'

/** The API reference: one page without scripts, generated from the contract. */
export function renderDocs(basePath: string): string {
  const groups = new Map<string, { name: string; endpoint: Endpoint }[]>()
  for (const entry of allEndpoints) {
    groups.set(entry.endpoint.tag, [...(groups.get(entry.endpoint.tag) ?? []), entry])
  }
  const sections = [...groups].map(
    ([tag, entries]) =>
      `<section><h2 id="${anchor(tag)}">${escapeHtml(tag)}</h2>${entries.map((entry) => call(entry, basePath)).join('')}</section>`,
  )
  const toc = [...groups.keys()]
    .map((tag) => `<li><a href="#${anchor(tag)}">${escapeHtml(tag)}</a></li>`)
    .join('')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · Keyward</title>
<meta name="description" content="Every call of the Keyward API: what it takes, what it answers, and how it fails.">
<link rel="stylesheet" href="${basePath}/docs/style.css">
</head>
<body>
<header><a href="${basePath}/">Keyward</a><span>API reference ${escapeHtml(version)}</span></header>
<div class="page">
<nav aria-label="Groups of calls"><ul><li><a href="#start">Start here</a></li>${toc}</ul></nav>
<main>${introduction(basePath)}${sections.join('')}</main>
</div>
</body>
</html>`
}

const introduction = (basePath: string) => `<h1 id="start">API reference</h1>
<p>All calls live under <code>${basePath}/api</code> and speak JSON. The machine-readable description is at
<a href="${basePath}/api/openapi.json">${basePath}/api/openapi.json</a>.</p>
<h3>Answers</h3>
<p>A success is <code>{ "success": true, "message"?, "data" }</code>; a failure is
<code>{ "success": false, "code", "message", "errors"? }</code> with a fitting status. An id that is not yours
answers exactly as one that does not exist: 404. A body can have up to ${limits.bodyBytesMax.toLocaleString('en-US')} bytes unless its call
names another limit; a larger one answers 413.</p>
<h3>Tokens</h3>
<p>Send <code>Authorization: Bearer &lt;token&gt;</code>. Vendors, resellers and programs have three kinds of
tokens; none opens another's door. Programs also send <code>Keyward-App: &lt;appId&gt;</code>.</p>
<h3>Put a program behind a license</h3>
<ol>
<li>Create an app in the console; copy its app ID, secret and public key.</li>
<li><code>POST /api/client/init</code> with <code>appId</code>, <code>secret</code> and <code>version</code>: keep
<code>data.session</code>.</li>
<li><code>POST /api/client/license</code> with <code>licenseKey</code> and <code>hwid</code>: the first use binds the
key to this machine.</li>
<li><code>GET /api/client/session</code> whenever it matters: a ban, a pause or an expiry shows on the very next call.</li>
</ol>
<p>Every answer to a program is signed with the app's Ed25519 key (RFC 9421, label <code>keyward</code>) over the
status, the digest of the body, the method, the path and what the request brought of <code>Keyward-Nonce</code>,
<code>Authorization</code> and <code>Content-Digest</code>. Verify it with a public key that is built into the
program, and send a fresh nonce each time: then neither a faked server nor a replayed answer passes.</p>`

function call({ name, endpoint }: { name: string; endpoint: Endpoint }, basePath: string): string {
  const parts = [
    fields('Path', endpoint.params, 'output'),
    fields('Query', endpoint.query, 'output'),
    fields('Body', endpoint.body, 'input'),
    fields('Answer', endpoint.data, 'output'),
    endpoint.bodyLimit ? `<p>The body can have up to ${bodyLimitOf(endpoint)} bytes.</p>` : '',
    endpoint.file ? `<p>Answers a file: <code>${endpoint.file.join('</code> or <code>')}</code>.</p>` : '',
  ]
  const errors = errorsOf(endpoint).map((code) => {
    const { status, message } = errorFacts(code)
    return `<tr><td>${status}</td><td><code>${code}</code></td><td>${escapeHtml(message)}</td></tr>`
  })
  return `<article id="${anchor(name)}">
<h3><span class="method ${endpoint.method.toLowerCase()}">${endpoint.method}</span>
<code>${basePath}/api${escapeHtml(endpoint.path.replace(/:(\w+)/g, '{$1}'))}</code></h3>
<p>${escapeHtml(endpoint.summary)}. <span class="access">${access[endpoint.access]}${permission(endpoint)}</span></p>
${parts.join('')}
<details><summary>Errors</summary><table><thead><tr><th>Status</th><th>Code</th><th>Text</th></tr></thead>
<tbody>${errors.join('')}</tbody></table></details>
</article>`
}

/** Owners have every permission; it matters for those who act for them. */
const permission = ({ permission: needed }: Endpoint): string =>
  needed === undefined || needed === 'self'
    ? ''
    : needed === 'ownership'
      ? ' Only the owner may call it.'
      : ` Permission: <code>${needed}</code>.`

const access: Record<Endpoint['access'], string> = {
  public: 'Open to anybody.',
  owner: 'Needs a vendor token.',
  reseller: 'Needs a reseller token.',
  program: 'For programs, without a session; the answer is signed.',
  session: 'For programs, with a session; the answer is signed.',
}

interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  description?: string
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  default?: unknown
}

function fields(title: string, schema: z.ZodType | undefined, io: 'input' | 'output'): string {
  if (!schema) return ''
  const json = z.toJSONSchema(schema, { io }) as Schema
  const rows = rowsOf(json, '')
  if (rows.length === 0) return ''
  return `<h4>${title}</h4><table><thead><tr><th>Field</th><th>Kind</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function rowsOf(schema: Schema, prefix: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const optional = !schema.required?.includes(name)
    const path = `${prefix}${name}`
    const row = `<tr><td><code>${escapeHtml(path)}</code>${optional ? ' <em>optional</em>' : ''}</td><td>${kind(property)}</td></tr>`
    const inner = property.items ?? property.anyOf?.find((part) => part.properties) ?? property
    return [row, ...rowsOf(inner, property.items ? `${path}[].` : `${path}.`)]
  })
}

function kind(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map(kind).join(' or ')
  if (schema.enum) return schema.enum.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(', ')
  if (schema.const !== undefined) return `<code>${escapeHtml(String(schema.const))}</code>`
  const range = [
    bounds(schema.minLength, schema.maxLength, ' characters'),
    bounds(schema.minimum, schema.maximum, ''),
    schema.default === undefined ? '' : `default ${escapeHtml(String(schema.default))}`,
    escapeHtml(schema.description ?? ''),
  ].filter(Boolean)
  const type = [schema.format ?? schema.type ?? 'any'].flat().join(' or ')
  const base =
    schema.type === 'array' ? `list of ${[schema.items?.type ?? 'values'].flat().join(' or ')}` : type
  return [escapeHtml(base), ...range].join(', ')
}

function bounds(min: number | undefined, max: number | undefined, unit: string): string {
  const large = Number.MAX_SAFE_INTEGER
  const low = min !== undefined && min > -large ? min : undefined
  const high = max !== undefined && max < large ? max : undefined
  if (low !== undefined && high !== undefined) return `${low} to ${high}${unit}`
  if (high !== undefined) return `at most ${high}${unit}`
  return low !== undefined ? `at least ${low}${unit}` : ''
}

const anchor = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-')

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

export const docsStyle = `:root{color-scheme:light dark;--ink:#18181b;--soft:#52525b;--line:#e4e4e7;--paper:#fff;--tint:#f4f4f5;--accent:#4338ca}
@media(prefers-color-scheme:dark){:root{--ink:#f4f4f5;--soft:#a1a1aa;--line:#2e2e33;--paper:#0c0c0f;--tint:#18181b;--accent:#a5b4fc}}
*{box-sizing:border-box}body{margin:0;font:15px/1.6 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
a{color:var(--accent)}a:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
header{display:flex;gap:1rem;align-items:baseline;padding:1rem 1.5rem;border-bottom:1px solid var(--line)}
header a{font-weight:650;color:inherit;text-decoration:none}header span{color:var(--soft)}
.page{display:grid;grid-template-columns:14rem minmax(0,1fr);max-width:70rem;margin:0 auto}
nav{position:sticky;top:0;align-self:start;padding:1.5rem}nav ul{list-style:none;margin:0;padding:0}nav li{margin:.35rem 0}
main{padding:1.5rem;min-width:0}h1{font-size:1.75rem;line-height:1.2}h2{margin-top:3rem;font-size:1.35rem}h3{font-size:1rem}h4{margin:.9rem 0 .3rem;font-size:.85rem;color:var(--soft)}
article{border:1px solid var(--line);border-radius:10px;padding:1rem 1.25rem;margin:1rem 0}article h3{margin:0;overflow-wrap:anywhere}
code{font:13px/1.5 ui-monospace,monospace;background:var(--tint);padding:.1em .35em;border-radius:4px;overflow-wrap:anywhere}
.method{display:inline-block;min-width:4.2rem;font:600 12px/1.6 ui-monospace,monospace}
.access{color:var(--soft)}table{width:100%;border-collapse:collapse;font-size:14px}th,td{text-align:left;padding:.35rem .5rem;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
th{font-weight:600;color:var(--soft)}em{color:var(--soft);font-style:normal;font-size:12px}summary{cursor:pointer;margin-top:.8rem;color:var(--soft)}
@media(max-width:768px){.page{grid-template-columns:1fr}nav{position:static;padding:1rem 1.5rem 0}nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1rem}main{padding:1rem}article{padding:.9rem}}`

import { acceptsIdempotencyKey, type Endpoint, errorFacts, limits } from '@keyward/contract'
import { z } from 'zod'
import { version } from '../core/version.ts'
import { escapeHtml, renderFrame } from './docs-frame.ts'
import { allEndpoints, bodyLimitOf, confirmation, errorsOf, permissionOf } from './openapi.ts'

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
  return renderFrame({
    title: 'API reference',
    subtitle: `API reference ${version}`,
    description: 'Every call of the Keyward API: what it takes, what it answers, and how it fails.',
    basePath,
    nav: `<li><a href="#start">Start here</a></li>${toc}`,
    main: introduction(basePath) + sections.join(''),
  })
}

const introduction = (basePath: string) => `<h1 id="start">API reference</h1>
<p>All calls live under <code>${basePath}/api</code> and speak JSON. The machine-readable description is at
<a href="${basePath}/api/openapi.json">${basePath}/api/openapi.json</a>.
Your own scripts and services: <a href="${basePath}/docs/automation">automation</a> and <a href="${basePath}/docs/api-keys">API keys</a>.
Programs use an <a href="${basePath}/sdk/">SDK</a>, or the <a href="${basePath}/docs/client-protocol">protocol</a> behind it.
What webhooks send: <a href="${basePath}/docs/events">events</a>.
Terms and license types: <a href="${basePath}/docs/licensing">licensing models</a>.
From another system: <a href="${basePath}/docs/migration">moving to Keyward</a>.</p>
<h3>Answers</h3>
<p>A success is <code>{ "success": true, "message"?, "data" }</code>; a failure is
<code>{ "success": false, "code", "message", "errors"? }</code> with the matching status. An id that is not yours
answers exactly as one that does not exist: 404. A body can have up to ${limits.bodyBytesMax.toLocaleString('en-US')} bytes unless its call
names another limit; a larger one answers 413.</p>
<h3>Repeats</h3>
<p>A client that gets no answer cannot know whether its request was carried out. Calls that name it accept
<code>Idempotency-Key</code>, a value that your client makes up for each new request, such as a UUID: a repeat with the same key and the same
input gets the first answer for ${limits.idempotencyHours} hours and changes nothing again. The server keeps the last
${limits.idempotencyKeysMax.toLocaleString('en-US')} answers of an account, and of large ones as many as fit in ${limits.idempotencyBytesMax / 1_048_576} MiB. A different request with the same key answers 422,
and a repeat while the first one is running answers 409.</p>
<h3>Tokens</h3>
<p>Send <code>Authorization: Bearer &lt;token&gt;</code>. Vendors, resellers and programs have three kinds of
tokens, and none is accepted in place of another. Your own scripts and services send an API key (<code>kwa_…</code>), which the
owner creates in the settings, in place of a vendor's token. Programs also send <code>Keyward-App: &lt;appId&gt;</code>.</p>
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
status, the digest of the body, the method, the path and, if the request has them, <code>Keyward-Nonce</code>,
<code>Authorization</code> and <code>Content-Digest</code>. Verify it with a public key that is built into the
program, and send a fresh nonce each time: then neither a faked server nor a replayed answer passes.</p>`

function call({ name, endpoint }: { name: string; endpoint: Endpoint }, basePath: string): string {
  const parts = [
    fields('Path', endpoint.params, 'output'),
    fields('Query', endpoint.query, 'output'),
    fields('Body', endpoint.body, 'input'),
    fields('Answer', endpoint.data, 'output'),
    acceptsIdempotencyKey(endpoint)
      ? '<p>Accepts an <code>Idempotency-Key</code>. A repeated answer has <code>Idempotent-Replay: true</code>.</p>'
      : '',
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
<p>${escapeHtml(endpoint.summary)}. <span class="access">${access[endpoint.access]}${permission(endpoint)}${confirm(endpoint)}</span></p>
${parts.join('')}
<details><summary>Errors</summary><table><thead><tr><th>Status</th><th>Code</th><th>Text</th></tr></thead>
<tbody>${errors.join('')}</tbody></table></details>
</article>`
}

const permission = (endpoint: Endpoint): string => {
  const text = escapeHtml(permissionOf(endpoint)).replace(/`([^`]+)`/g, '<code>$1</code>')
  return text && ` ${text}`
}

const confirm = ({ confirm: needed }: Endpoint): string => (needed ? ` ${confirmation[needed]}.` : '')

const access: Record<Endpoint['access'], string> = {
  public: 'Needs no token.',
  owner: 'Needs a vendor token or an API key.',
  reseller: 'Needs a reseller token.',
  customer: 'Needs a token of the customer’s page.',
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

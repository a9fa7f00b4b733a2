import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Artifact, BodyOf, endpoints, Release } from '@keyward/contract'
import { OperatorError } from '../core/operator-error.ts'
import type { Settings } from '../mcp/keyward-api.ts'
import { readSettings } from './api-settings.ts'
import { command, print, UsageError } from './command.ts'
import { digestFile, unreadable } from './digest.ts'

interface PushOptions extends Record<string, string | undefined> {
  url?: string
  channel?: string
  notes?: string
  link?: string
  released?: string
  'updates-from'?: string
  build?: string
  security?: string
}

export const releaseCommand = command<PushOptions>({
  name: 'release',
  forms: [
    {
      form: 'release push <app> <version> <file>…',
      does: [
        'list a release of an app with its files: each as',
        'Setup.exe=windows/x64/installer (platform, architecture, kind).',
        'The server is KEYWARD_URL, the rights are those of KEYWARD_API_KEY',
      ],
      options: [
        ['--url ADDRESS', 'the https folder from which the files are downloaded'],
        ['[--channel NAME]', 'stable by default'],
        ['[--notes FILE]', 'a file with what is new, as Markdown'],
        ['[--link ADDRESS]', 'a page where people download it'],
        ['[--released DATE]', 'now by default'],
        ['[--updates-from VERSION]', 'the oldest version that may update to it'],
        ['[--build BUILD]', "the build for Sparkle's appcast"],
        ['[--security FILE]', 'a file with what it repairs, as JSON'],
      ],
    },
  ],
  options: {
    url: { type: 'string' },
    channel: { type: 'string' },
    notes: { type: 'string' },
    link: { type: 'string' },
    released: { type: 'string' },
    'updates-from': { type: 'string' },
    build: { type: 'string' },
    security: { type: 'string' },
  },
  run: async ([verb, app, version, ...files], options) => {
    if (verb !== 'push' || app === undefined || version === undefined)
      throw new UsageError('Usage: keyward release push <app> <version> <file>…')
    const settings = readSettings(process.env)
    const artifacts: Artifact[] = []
    for (const file of files) artifacts.push(await readArtifact(file, options.url))
    print(await push(settings, { app, version, artifacts, fields: fieldsOf(options) }))
  },
})

/** `dist/Setup.exe=windows/x64/installer`, with the signature of a file beside it that ends in `.sig`. */
async function readArtifact(argument: string, folder: string | undefined): Promise<Artifact> {
  const [, file = '', what = ''] = /^(.+)=([^=]*)$/s.exec(argument) ?? []
  const [platform, architecture, kind, ...more] = what.split('/')
  if (!platform || !architecture || !kind || more.length > 0)
    throw new UsageError(
      `${argument}: a file is given with its platform, architecture and kind, as Setup.exe=windows/x64/installer.`,
    )
  const name = basename(file)
  const url = folder && URL.parse(encodeURIComponent(name), folder.endsWith('/') ? folder : `${folder}/`)
  if (!url)
    throw new UsageError('--url is the https address of the folder from which the files are downloaded.')
  const signature = readIfThere(`${file}.sig`)?.trim()
  return {
    ...{ platform, architecture, kind, name, url: url.href },
    ...(await digestFile(file, ['sha512', 'sha256', 'sha1'])),
    ...(signature === undefined ? {} : { signature }),
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(file, error)
  }
}

type Fields = Omit<BodyOf<(typeof endpoints)['releases']['update']>, 'artifacts' | 'seen' | 'version'>

/** What was typed; the rest stays as it is. */
function fieldsOf({ channel, link, build, ...options }: PushOptions): Fields {
  return {
    ...{ channel, link, build, releasedAt: options.released, updatesFrom: options['updates-from'] },
    notes: textOf(options.notes),
    security: securityOf(options.security),
  }
}

function textOf(file: string | undefined): string | undefined {
  const text = file === undefined ? undefined : readIfThere(file)
  if (file !== undefined && text === undefined) throw new UsageError(`There is no file ${file}.`)
  return text
}

function securityOf(file: string | undefined): Fields['security'] {
  const text = textOf(file)
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    throw new UsageError(`${file} is no JSON.`)
  }
}

interface Push {
  app: string
  version: string
  artifacts: readonly Artifact[]
  fields: Fields
}

/** Jobs for other platforms may list their files of the same version at this moment. */
const attempts = 10

/**
 * Lists the release, or adds to one that is listed: its other files stay. A second run with the same files changes nothing.
 */
async function push(settings: Settings, { app, version, artifacts, fields }: Push): Promise<string> {
  const path = `/apps/${encodeURIComponent(app)}/releases`
  const name = (files: number) => `${version} with ${files} ${files === 1 ? 'file' : 'files'}`
  const releasedAt = fields.releasedAt ?? new Date().toISOString()
  const added = await send(settings, 'POST', path, { version, ...fields, releasedAt, artifacts })
  if (added.ok) return `Release ${name(artifacts.length)} is listed.\n`
  if (added.code !== 'release_exists') throw refused(added, artifacts)
  for (let attempt = 1; ; attempt += 1) {
    const listed = await send<{ releases: Release[] }>(settings, 'GET', path)
    if (!listed.ok) throw refused(listed, artifacts)
    const before = listed.data.releases.find((release) => release.version === version)
    if (!before) throw new OperatorError(`Release ${version} was removed meanwhile. Try again.`)
    if (before.withdrawnAt !== null)
      throw new OperatorError(`Release ${version} was withdrawn, so nothing was changed.`)
    const merged = merge(before.artifacts, artifacts)
    const body = { ...fields, artifacts: merged, seen: { artifacts: before.artifacts } }
    const changed = await send<{ release: Release }>(settings, 'PUT', `/releases/${before._id}`, body)
    if (changed.ok) {
      const isSame = JSON.stringify(changed.data.release) === JSON.stringify(before)
      return `Release ${name(merged.length)} ${isSame ? 'was listed already' : 'is listed, with what is new'}.\n`
    }
    if (changed.code !== 'release_changed' || attempt === attempts) throw refused(changed, merged)
  }
}

/** The files of before, each replaced in its place by the new one of the same name and kind. */
function merge(before: readonly Artifact[], pushed: readonly Artifact[]): Artifact[] {
  const place = ({ platform, architecture, kind, name }: Artifact) =>
    `${platform}/${architecture}/${kind}/${name}`.toLowerCase()
  return [...new Map([...before, ...pushed].map((artifact) => [place(artifact), artifact])).values()]
}

type Answer<Data> = { ok: true; data: Data } | ({ ok: false } & Refusal)
interface Refusal {
  code: string
  message: string
  errors?: { path: string; message: string }[]
}

async function send<Data>(
  { url, apiKey }: Settings,
  method: string,
  path: string,
  body?: object,
): Promise<Answer<Data>> {
  try {
    const response = await fetch(`${url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      // A redirect would carry the key to another address.
      redirect: 'error',
      signal: AbortSignal.timeout(60_000),
    })
    const answer = (await response.json()) as { success: true; data: Data } | ({ success: false } & Refusal)
    if (answer.success === true) return { ok: true, data: answer.data }
    if (answer.success === false) return { ...answer, ok: false }
  } catch {}
  throw new OperatorError(`${url} does not answer as a Keyward server. Is KEYWARD_URL right?`)
}

/** Why the server refused, with the files that it rejects by their names. */
function refused({ code, message, errors = [] }: Refusal, artifacts: readonly Artifact[]): OperatorError {
  const reasons = errors.map(({ path, message: reason }) => {
    const where = path.replace(/^artifacts\.(\d+)/, (_all, at) => artifacts[Number(at)]?.name ?? 'artifacts')
    return `${where}: ${reason}`
  })
  return new OperatorError([plainly[code] ?? message, ...reasons].join('\n'))
}

const plainly: Record<string, string> = {
  not_found: 'There is no such app, or the API key may not access it.',
  permission_missing: 'The API key lacks the permission releases:write.',
  unauthorized: 'The server does not accept the API key: it is unknown, expired or revoked.',
}

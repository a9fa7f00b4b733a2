import type { Artifact } from '@keyward/contract'
import { toIso } from '../../../core/clock.ts'
import { type ListedRelease, withoutZeros } from '../../releases/catalog.rules.ts'
import { artifactsFor, isOf, type Target } from '../../releases/targets.rules.ts'

/** A release with the artifacts of a feed. */
export interface FeedEntry {
  release: ListedRelease
  build: string | null
  notes: string | null
  artifacts: readonly Artifact[]
}

/** What an updater reads. */
export interface Feed {
  /** What it is written by, besides the releases. */
  key: readonly (string | undefined)[]
  channel: string
  /** The version of the program, where its updater sends it. */
  version?: string | undefined
  /** Which artifacts it lists. */
  pick(artifacts: readonly Artifact[]): readonly Artifact[]
  type: string
  /** What it says of a release; empty for one that it leaves out. */
  item(entry: FeedEntry): string
  /** Around the items; a feed without it names the newest release alone. */
  frame?(items: readonly string[]): string
}

const json = 'application/json; charset=utf-8'
const isWhole = ({ kind }: Artifact): boolean => kind !== 'delta'
const isSigned = ({ signature }: Artifact): boolean => signature !== undefined

/** The name of a file of electron-updater: its channel and its platform, `latest.yml` for instance. */
const electronFile = /^([a-z0-9-]{1,20}?)(?:-(mac)|-(linux)(?:-([a-z0-9]{1,10}))?)?\.yml$/

/** The YAML of electron-updater's generic provider; undefined for a file that it does not read. */
export function electronFeed(file: string, version?: string): Feed | undefined {
  const [, name, mac, linux, architecture = 'x64'] = electronFile.exec(file) ?? []
  if (name === undefined) return undefined
  const platform = mac ?? linux ?? 'windows'
  return {
    key: ['electron', platform, linux && architecture],
    channel: name === 'latest' ? 'stable' : name,
    version,
    // Its updater of Linux reads a file for each architecture, those of Windows and macOS choose among the files.
    pick: (all) =>
      (linux ? artifactsFor(all, { platform, architecture }) : all.filter(isOf(platform))).filter(isWhole),
    type: 'text/yaml; charset=utf-8',
    item: writeElectron,
  }
}

function writeElectron({ release, notes, artifacts }: FeedEntry): string {
  const [first] = artifacts
  if (!first) return ''
  const digestOf = ({ sha512 }: Artifact) => yamlText(Buffer.from(sha512, 'hex').toString('base64'))
  return [
    `version: ${yamlText(withoutZeros(release.version))}`,
    'files:',
    ...artifacts.flatMap((one) => [
      `  - url: ${yamlText(one.url)}`,
      `    sha512: ${digestOf(one)}`,
      `    size: ${one.size}`,
    ]),
    `path: ${yamlText(first.url)}`,
    `sha512: ${digestOf(first)}`,
    `releaseDate: ${yamlText(toIso(release.releasedAt))}`,
    ...(notes === null ? [] : [`releaseNotes: ${yamlText(notes)}`]),
    '',
  ].join('\n')
}

/** A text in double quotes, without the characters that YAML takes only escaped. */
const yamlText = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** The answer of a server for Tauri's updater. */
export const tauriFeed = (channel: string, target: Target, version: string): Feed => ({
  key: ['tauri', target.platform, target.architecture],
  channel,
  version,
  pick: (all) => artifactsFor(all, target).filter((one) => isWhole(one) && isSigned(one)),
  type: json,
  item: ({ release, notes, artifacts: [artifact] }) =>
    artifact === undefined
      ? ''
      : JSON.stringify({
          version: withoutZeros(release.version),
          notes: notes ?? '',
          pub_date: toIso(release.releasedAt),
          url: artifact.url,
          signature: artifact.signature,
        }),
})

/** The appcast of Sparkle. */
export const sparkleFeed = (channel: string, version?: string): Feed => ({
  key: ['sparkle', channel],
  channel,
  version,
  pick: (all) => {
    const usable = all.filter(isOf('macos')).filter((one) => isWhole(one) && isSigned(one))
    return [...artifactsFor(usable, { platform: 'macos', architecture: 'universal' }), ...usable].slice(0, 1)
  },
  type: 'application/rss+xml; charset=utf-8',
  item: writeItem,
  frame: (items) =>
    [
      '<?xml version="1.0" encoding="utf-8"?>',
      '<rss version="2.0" xmlns:sparkle="http://www.andymatuschak.org/xml-namespaces/sparkle">',
      '<channel>',
      `<title>${channel}</title>`,
      ...items,
      '</channel>',
      '</rss>',
      '',
    ].join('\n'),
})

function writeItem({ release, build, notes, artifacts: [artifact] }: FeedEntry): string {
  if (!artifact) return ''
  const { version, releasedAt, link, security } = release
  return [
    '<item>',
    `<title>${xmlText(version)}</title>`,
    `<pubDate>${new Date(releasedAt).toUTCString()}</pubDate>`,
    ...(link === null ? [] : [`<link>${xmlText(link)}</link>`]),
    `<sparkle:version>${xmlText(build ?? version)}</sparkle:version>`,
    `<sparkle:shortVersionString>${xmlText(version)}</sparkle:shortVersionString>`,
    ...(security?.severity === 'critical' ? ['<sparkle:criticalUpdate></sparkle:criticalUpdate>'] : []),
    ...(notes === null ? [] : [`<description sparkle:format="markdown">${xmlText(notes)}</description>`]),
    `<enclosure url="${xmlText(artifact.url)}" length="${artifact.size}" type="application/octet-stream" sparkle:edSignature="${xmlText(artifact.signature ?? '')}"/>`,
    '</item>',
  ].join('\n')
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Text for an element or an attribute, without the characters that XML cannot have. */
const xmlText = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"']/g, (one) => entities[one] as string)

/** The list of packages that Velopack reads; `target` is what its updater says of the machine. */
export const velopackFeed = (channel: string, target: Partial<Target>, version?: string): Feed => ({
  key: ['velopack', target.platform, target.architecture],
  channel,
  version,
  pick: (all) => {
    const { platform, architecture } = target
    const packages = all.filter((one) => isPackage(one)).filter(platform ? isOf(platform) : () => true)
    return platform && architecture ? artifactsFor(packages, { platform, architecture }) : packages
  },
  type: json,
  item: ({ release, notes, artifacts }) =>
    artifacts
      .map((one, at) => {
        const type = typeOf(one)
        return JSON.stringify({
          PackageId: packageOf(one.name, release.version),
          Version: withoutZeros(release.version),
          Type: type,
          FileName: one.name,
          SHA1: one.sha1?.toUpperCase(),
          SHA256: one.sha256?.toUpperCase(),
          Size: one.size,
          // Its updater takes the first full package of the newest version.
          NotesMarkdown: artifacts.findIndex((other) => typeOf(other) === type) === at ? (notes ?? '') : '',
        })
      })
      .join(),
  frame: (items) => `{"Assets":[${items.join()}]}`,
})

const typeOf = ({ kind, name }: Pick<Artifact, 'kind' | 'name'>): 'Delta' | 'Full' =>
  kind === 'delta' || name.endsWith('-delta.nupkg') ? 'Delta' : 'Full'

/** Packages of Velopack have a SHA-1. */
export const isPackage = ({ name, sha1 }: Artifact): boolean => sha1 !== undefined && name.endsWith('.nupkg')

/** `Atlas` of `Atlas-1.0.0-win-full.nupkg`. */
function packageOf(name: string, version: string): string {
  const at = name.indexOf(`-${version}`)
  return at > 0 ? name.slice(0, at) : name.replace(/\.nupkg$/, '')
}

/** All that is known of the releases, for updaters of one's own. */
export const jsonFeed = (channel: string, version?: string): Feed => ({
  key: ['json'],
  channel,
  version,
  pick: (all) => all,
  type: json,
  item: ({ release: { version: name, releasedAt, link, security }, notes, artifacts }) =>
    JSON.stringify({
      ...{ version: name, releasedAt: toIso(releasedAt), notes, url: link, artifacts, security },
    }),
  frame: (items) => `{"releases":[${items.join()}]}`,
})

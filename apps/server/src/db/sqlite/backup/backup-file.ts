// ADR 8: backups that finish.
import { createHash, type Hash } from 'node:crypto'
import { closeSync, openSync, statSync } from 'node:fs'
import { z } from 'zod'
import { OperatorError } from '../../../core/operator-error.ts'
import { version } from '../../../core/version.ts'
import { appendEntry, endArchive, readChunks, readEntries, type TarEntry, TarError } from './tar.ts'

// A backup is a tar archive of manifest.json, optionally secret.key, keyward.db, and their checksums in the format of
// sha256sum.

const names = {
  manifest: 'manifest.json',
  key: 'secret.key',
  database: 'keyward.db',
  checksums: 'SHA256SUMS',
} as const
const smallBytes = 1_048_576

const manifestSchema = z.object({
  format: z.literal('keyward-backup'),
  formatVersion: z.literal(1),
  createdAt: z.iso.datetime(),
  keyward: z.string(),
  /** Names of the migrations that ran, in order; the last one is the schema's version. */
  schema: z.array(z.string()),
  keyFingerprint: z.string().nullable(),
})

type Manifest = z.output<typeof manifestSchema>

interface Contents {
  manifest: Manifest
  key: string | undefined
  database: TarEntry & { sha256: string }
}

/** Writes a backup of a database file that no longer changes; returns the database's checksum. */
export function writeBackupFile(
  path: string,
  contents: {
    database: string
    schema: string[]
    keyFingerprint: string | null
    key: string | undefined
    now: number
  },
): string {
  const manifest: Manifest = {
    format: 'keyward-backup',
    formatVersion: 1,
    createdAt: new Date(contents.now).toISOString(),
    keyward: version,
    schema: contents.schema,
    keyFingerprint: contents.keyFingerprint,
  }
  const archive = openSync(path, 'wx', 0o600)
  const sums: [string, string][] = []
  const append = (name: string, size: number, chunks: Iterable<Buffer>): string => {
    const hash = createHash('sha256')
    appendEntry(archive, { name, size, time: contents.now }, hashing(chunks, hash))
    const sum = hash.digest('hex')
    sums.push([name, sum])
    return sum
  }
  const appendText = (name: string, text: string) => {
    const content = Buffer.from(text)
    append(name, content.length, [content])
  }
  try {
    appendText(names.manifest, `${JSON.stringify(manifest, undefined, 2)}\n`)
    if (contents.key !== undefined) appendText(names.key, `${contents.key}\n`)
    const sha256 = append(names.database, statSync(contents.database).size, readChunks(contents.database))
    appendText(names.checksums, sums.map(([name, sum]) => `${sum}  ${name}\n`).join(''))
    endArchive(archive)
    return sha256
  } finally {
    closeSync(archive)
  }
}

/** Reads everything but the database; `checkedChunks` verifies that. */
export function readBackupFile(path: string): Contents {
  const archive = openSync(path, 'r')
  try {
    const entries = readEntries(archive, statSync(path).size)
    const sums = toSums(readSmall(path, entries.get(names.checksums)))
    const checked = (name: string) => {
      const text = readSmall(path, entries.get(name))
      if (hashOf(text) !== sums.get(name)) throw new TarError(`the checksum of ${name} is wrong`)
      return text
    }
    const database = entries.get(names.database)
    if (!database) throw new TarError('it holds no database')
    return {
      manifest: toManifest(path, checked(names.manifest)),
      database: { ...database, sha256: sums.get(names.database) ?? '' },
      key: entries.has(names.key) ? checked(names.key).trim() : undefined,
    }
  } catch (error) {
    if (error instanceof TarError) throw damaged(path, error.message)
    throw error
  } finally {
    closeSync(archive)
  }
}

/** Yields the bytes of the database; throws at the end if the checksum does not match. */
export function* checkedChunks(path: string, { database }: Contents): Generator<Buffer> {
  const hash = createHash('sha256')
  yield* hashing(readChunks(path, database.at, database.size), hash)
  if (hash.digest('hex') !== database.sha256) throw damaged(path, 'the checksum of its database is wrong')
}

export const damaged = (path: string, reason: string) =>
  new OperatorError(`${path} is damaged or not a backup of Keyward: ${reason}. Nothing was changed.`)

function toManifest(path: string, text: string): Manifest {
  try {
    return manifestSchema.parse(JSON.parse(text))
  } catch {
    throw damaged(path, 'its manifest cannot be read, or a newer version wrote it')
  }
}

function readSmall(path: string, entry: TarEntry | undefined): string {
  if (!entry) throw new TarError('a file is missing in it')
  if (entry.size > smallBytes) throw new TarError(`${entry.name} is too large`)
  return Buffer.concat([...readChunks(path, entry.at, entry.size)]).toString('utf8')
}

const toSums = (text: string): Map<string, string> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [, sum, name] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? []
      return sum && name ? [[name, sum] as const] : []
    }),
  )

function* hashing(chunks: Iterable<Buffer>, hash: Hash): Generator<Buffer> {
  for (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

// ADR 8: the format of a backup.
import { closeSync, openSync, readSync, writeFileSync } from 'node:fs'

// The subset of the ustar format that a backup needs: regular files.

const block = 512
const chunkBytes = 1_048_576
const octalMax = 0o77777777777
const field = { name: [0, 100], mode: [100, 8], size: [124, 12], time: [136, 12], sum: [148, 8] } as const

export interface TarEntry {
  name: string
  size: number
  /** Offset of its first byte in the archive. */
  at: number
}

export class TarError extends Error {}

/** Appends a file to an archive that is open for writing. */
export function appendEntry(
  archive: number,
  entry: { name: string; size: number; time: number },
  chunks: Iterable<Buffer>,
): void {
  writeFileSync(archive, toHeader(entry))
  let written = 0
  for (const chunk of chunks) {
    writeFileSync(archive, chunk)
    written += chunk.length
  }
  if (written !== entry.size) throw new TarError(`${entry.name} changed while it was written`)
  writeFileSync(archive, Buffer.alloc((block - (written % block)) % block))
}

/** Two empty blocks end an archive. */
export const endArchive = (archive: number): void => void writeFileSync(archive, Buffer.alloc(2 * block))

/** The regular files of an archive, by name. */
export function readEntries(archive: number, archiveBytes: number): Map<string, TarEntry> {
  const entries = new Map<string, TarEntry>()
  const header = Buffer.alloc(block)
  for (let at = 0; ; ) {
    if (readSync(archive, header, 0, block, at) < block) throw new TarError('it ends too early')
    if (header.every((byte) => byte === 0)) return entries
    if (toNumber(header, field.sum) !== sumOf(header)) {
      throw new TarError('one of its headers is damaged')
    }
    const size = toNumber(header, field.size)
    const begin = at + block
    if (!Number.isSafeInteger(size) || size < 0 || begin + size > archiveBytes)
      throw new TarError('it ends too early')
    const name = text(header, field.name).replace(/^\.\//, '')
    const isFile = header[156] === 0 || header[156] === '0'.charCodeAt(0)
    if (isFile) entries.set(name, { name, size, at: begin })
    at = begin + Math.ceil(size / block) * block
  }
}

/** Reads a file, or a range of it, in chunks. */
export function* readChunks(path: string, from = 0, bytes = Number.POSITIVE_INFINITY): Generator<Buffer> {
  const file = openSync(path, 'r')
  try {
    let at = from
    for (;;) {
      const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, from + bytes - at))
      const read = readSync(file, buffer, 0, buffer.length, at)
      if (read === 0) return
      at += read
      yield buffer.subarray(0, read)
    }
  } finally {
    closeSync(file)
  }
}

function toHeader({ name, size, time }: { name: string; size: number; time: number }): Buffer {
  const header = Buffer.alloc(block)
  header.write(name, 0)
  header.write('0000600\0', field.mode[0])
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  if (size <= octalMax) header.write(`${size.toString(8).padStart(11, '0')}\0`, field.size[0])
  else {
    // Sizes over 8 GiB do not fit the octal field; today's tar programs read a binary number instead.
    header[field.size[0]] = 0x80
    header.writeBigUInt64BE(BigInt(size), field.size[0] + 4)
  }
  header.write(
    `${Math.floor(time / 1000)
      .toString(8)
      .padStart(11, '0')}\0`,
    field.time[0],
  )
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  header.write(`${sumOf(header).toString(8).padStart(6, '0')}\0 `, field.sum[0])
  return header
}

const text = (header: Buffer, [at, length]: readonly [number, number]): string =>
  header.toString('latin1', at, at + length).replace(/\0.*$/s, '')

function toNumber(header: Buffer, where: readonly [number, number]): number {
  const [at, length] = where
  if (((header[at] ?? 0) & 0x80) !== 0) return Number(header.readBigUInt64BE(at + length - 8))
  return Number.parseInt(text(header, where).trim() || '0', 8)
}

/** The checksum of a header: the sum of its bytes, with the checksum field itself counted as spaces. */
function sumOf(header: Buffer): number {
  const [at, length] = field.sum
  return header.reduce((sum, byte, index) => sum + (index >= at && index < at + length ? 32 : byte), 0)
}

import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'

/** Folder of the released SDKs: an archive per version, which never changes, and `index.json` about all of them. */
export const releasesUrl = new URL('../../../../sdks/releases/', import.meta.url)

const inflate = promisify(inflateRaw)

/** Reads a file of a released version; undefined if there is none. */
export async function readReleased(version: string, name: string): Promise<Buffer | undefined> {
  if (!/^\d+\.\d+\.\d+$/.test(version)) return undefined
  const archive = await readFile(new URL(`${version}.zip`, releasesUrl)).catch(() => undefined)
  return archive && unzip(archive, name)
}

const [endSize, centralSize, localSize] = [22, 46, 30]

/** Finds a file by the directory at the end of a zip archive, as `scripts/wheel.mjs` writes it. */
async function unzip(archive: Buffer, name: string): Promise<Buffer | undefined> {
  const end = archive.length - endSize
  for (let at = archive.readUInt32LE(end + 16); at < end; ) {
    const lengths = [28, 30, 32].map((field) => archive.readUInt16LE(at + field))
    const found = archive.toString('utf8', at + centralSize, at + centralSize + (lengths[0] ?? 0))
    if (found === name) {
      const local = archive.readUInt32LE(at + 42)
      const begin = local + localSize + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
      const packed = archive.subarray(begin, begin + archive.readUInt32LE(at + 20))
      return archive.readUInt16LE(at + 10) === 0 ? packed : inflate(packed)
    }
    at += lengths.reduce((sum, length) => sum + length, centralSize)
  }
  return undefined
}

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { UsageError } from './command.ts'

/** Reads a file once, of whatever size, for its size and its digests in hex. */
export async function digestFile<Name extends string>(
  file: string,
  names: readonly Name[],
): Promise<{ size: number } & Record<Name, string>> {
  const hashes = names.map((name) => [name, createHash(name)] as const)
  let size = 0
  try {
    for await (const chunk of createReadStream(file)) {
      size += (chunk as Buffer).length
      for (const [, hash] of hashes) hash.update(chunk as Buffer)
    }
  } catch (error) {
    throw unreadable(file, error)
  }
  const digests = Object.fromEntries(hashes.map(([name, hash]) => [name, hash.digest('hex')]))
  return { size, ...(digests as Record<Name, string>) }
}

export function unreadable(file: string, error: unknown): UsageError {
  const { code } = error as NodeJS.ErrnoException
  return new UsageError(code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read (${code}).`)
}

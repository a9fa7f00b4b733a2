import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { UsageError } from './cli-coupon.ts'

/** Prints the hash of a build, as `program-hashes` and the SDK's option `hash` expect it. */
export async function hashCommand([file, ...more]: string[]): Promise<string> {
  if (file === undefined || more.length > 0) throw new UsageError('Usage: keyward hash <file>')
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(
      code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read (${code}).`,
    )
  }
  return `${hash.digest('hex')}\n`
}

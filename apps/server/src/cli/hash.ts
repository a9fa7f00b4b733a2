import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { command, print, UsageError } from './command.ts'

export const hashCommand = command({
  name: 'hash',
  forms: [
    {
      form: 'hash <file>',
      does: ["print the hash of a program's build, for its list of allowed hashes"],
    },
  ],
  run: async (args) => print(await hashOf(args)),
})

/** The hash of a build, as `program-hashes` and the SDK's option `hash` expect it, and a line feed. */
async function hashOf([file, ...more]: string[]): Promise<string> {
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

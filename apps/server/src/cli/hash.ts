import { command, print, UsageError } from './command.ts'
import { digestFile } from './digest.ts'

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
  const { sha256 } = await digestFile(file, ['sha256'])
  return `${sha256}\n`
}

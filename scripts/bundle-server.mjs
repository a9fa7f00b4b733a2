// Joins the files of the server and its command line to few, for tests: they start many processes, and loading the files one
// by one takes a quarter of the processor time of a server's start, and half of a command's. `npm start` runs the files
// themselves, as do the tests of starts.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './ensure.mjs'

const server = join(root, 'apps', 'server')
const folder = join(root, 'node_modules', '.cache', 'keyward-bundle')
const programs = [
  'src/main.mjs',
  'src/cli.mjs',
  'src/db/sqlite/backup/backup-process.ts',
  'test/broken-backup.ts',
  'test/webhook-host.ts',
]

/** Bundles the programs, each under its own name, and returns the path of the server. */
export async function bundleServer() {
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
    input: programs.map((program) => join(server, program)),
    platform: 'node',
    external: [/^@node-rs\//, /^sodium-native$/, /^pg-native$/],
    treeshake: false,
    plugins: [
      {
        name: 'places',
        // Files read what lies beside them, and start threads from there.
        transform: (code, id) => code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
      },
      {
        name: 'garbage',
        // Its collection at the end of a start takes a sixth of the processor time of one.
        load: (id) =>
          id === join(server, 'src/core/collect-garbage.ts')
            ? 'export const collectGarbage = () => {}'
            : null,
      },
    ],
  })
  rmSync(folder, { recursive: true, force: true })
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunks/[name].mjs',
  })
  return join(folder, 'main.mjs')
}

// Joins the server's files to one, for tests: they start many servers, and loading the files one by one takes a quarter of
// a start's processor time. `npm start` runs the files themselves, as do the tests of starts.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './ensure.mjs'

const sources = join(root, 'apps', 'server', 'src')
const folder = join(root, 'node_modules', '.cache', 'keyward-bundle')

/** Bundles the server and returns the path of the program to start. */
export async function bundleServer() {
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
    input: join(sources, 'run.ts'),
    platform: 'node',
    external: [/^@node-rs\//, /^sodium-native$/, /^pg-native$/],
    treeshake: false,
    plugins: [
      {
        name: 'places',
        // Files read what lies beside them, and start threads from there.
        transform: (code, id) => code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
      },
    ],
  })
  await bundle.write({ file: join(folder, 'run.mjs'), format: 'esm', codeSplitting: false })
  const main = join(folder, 'main.mjs')
  writeFileSync(
    main,
    `import '${pathToFileURL(join(sources, 'keep-compiled.mjs'))}'\nawait import('./run.mjs')\n`,
  )
  return main
}

// Builds dist: one file per platform and module system, and the types for both module systems.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const folder = import.meta.dirname
// Another process may import dist meanwhile, so its files are only ever replaced as a whole.
const dist = mkdtempSync(join(folder, 'dist-'))

for (const platform of ['node', 'browser']) {
  const bundle = await rolldown({
    input: join(folder, 'src/index.ts'),
    platform,
    external: /^node:/,
    transform: { target: 'es2022' },
  })
  const name = platform === 'node' ? 'node' : 'web'
  await bundle.write({ file: join(dist, `${name}.js`), format: 'esm' })
  await bundle.write({ file: join(dist, `${name}.cjs`), format: 'cjs' })
  await bundle.close()
}

const types = join(dist, 'types')
const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')
execFileSync(process.execPath, [tsc, '-p', join(folder, 'tsconfig.build.json'), '--outDir', types], {
  stdio: 'inherit',
})
publishTypes()
publish(join(folder, 'dist'))

/** Moves the files to `target` and removes those of earlier builds. */
function publish(target) {
  mkdirSync(target, { recursive: true })
  const names = readdirSync(dist)
  for (const name of names) renameSync(join(dist, name), join(target, name))
  for (const name of readdirSync(target)) if (!names.includes(name)) rmSync(join(target, name))
  rmSync(dist, { recursive: true })
}

/** Writes the declarations that index.d.ts needs, for import (`.d.ts`) and for require (`.d.cts`). */
function publishTypes() {
  const done = new Set()
  const visit = (name) => {
    if (done.has(name)) return
    done.add(name)
    const text = readFileSync(join(types, `${name}.d.ts`), 'utf8')
    const specifier = /'\.\/([\w-]+)\.ts'/g
    for (const [, imported] of text.matchAll(specifier)) visit(imported)
    writeFileSync(join(dist, `${name}.d.ts`), text.replace(specifier, "'./$1.js'"))
    writeFileSync(join(dist, `${name}.d.cts`), text.replace(specifier, "'./$1.cjs'"))
  }
  visit('index')
  rmSync(types, { recursive: true })
}

// Builds dist: one file per platform and module system, and the types for both module systems.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const folder = import.meta.dirname
const dist = join(folder, 'dist')
rmSync(dist, { recursive: true, force: true })

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
  mkdirSync(dist, { recursive: true })
  visit('index')
  rmSync(types, { recursive: true })
}

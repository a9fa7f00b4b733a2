import './keep-compiled.mjs'

await import('./run.ts')

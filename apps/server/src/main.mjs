import './require-node.mjs'
import './keep-compiled.mjs'

await import('./run.ts')

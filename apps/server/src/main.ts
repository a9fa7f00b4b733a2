import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Beside the dependencies, not in a shared /tmp: only someone who could change the program can write there.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/keyward', import.meta.url)))
await import('./run.ts')

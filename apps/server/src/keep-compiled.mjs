import module from 'node:module'
import { fileURLToPath } from 'node:url'

// The cache is next to the dependencies, not in a shared /tmp: to write there, one must be able to change the program.
const directory = fileURLToPath(new URL('../../../node_modules/.cache/keyward', import.meta.url))
// For a TypeScript file that is not in the cache, each thread loads a compiler of 19 MB. This file is loaded before the
// cache, so it is JavaScript; threads find the cache through the environment.
module.enableCompileCache(directory)
process.env.NODE_COMPILE_CACHE ??= directory

// Packs the TypeScript SDK into one file that `npm install` accepts without a registry.
import { buildSdk, ensureInstalled, packSdk, root } from './ensure.mjs'

ensureInstalled({ dev: true })
await buildSdk()
if (!process.argv.includes('--build-only')) {
  const file = packSdk(root)
  console.log(`The SDK is packed. In the folder of your program:\n\n  npm install "${file}"\n`)
}

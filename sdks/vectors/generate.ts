// Writes the conformance cases. Run `node sdks/vectors/generate.ts` after changing a case: a test fails while the files
// differ from the generated cases.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { placeholderParts } from '@keyward/contract'
import { testKey, toPublic } from '../../packages/sdk/test/signer.ts'
import { answers } from './answers.ts'
import { hwids, parts, sources } from './hwids.ts'
import { keySets } from './key-sets.ts'
import { appId, hwid, leases } from './leases.ts'
import { offline, storageFiles } from './offline.ts'
import { requests } from './requests.ts'
import { retries } from './retries.ts'

/** The files of this folder and their content. */
export const files = {
  'answers.json': { keys: [toPublic(testKey)], cases: answers },
  'hwids.json': { cases: hwids, sources, parts, placeholders: placeholderParts },
  'key-sets.json': { cases: keySets },
  'leases.json': { keys: [toPublic(testKey)], cases: leases },
  'offline.json': { keys: [toPublic(testKey)], appId, hwid, files: storageFiles, cases: offline },
  'requests.json': requests,
  'retries.json': { cases: retries },
}

export const render = (content: unknown) => `${JSON.stringify(content, null, 2)}\n`

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, content] of Object.entries(files)) {
    const path = new URL(name, import.meta.url)
    const written = JSON.parse(readFileSync(path, 'utf8'))
    if (!isDeepStrictEqual(written, JSON.parse(render(content)))) writeFileSync(path, render(content))
  }
}

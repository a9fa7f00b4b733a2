// What a vendor reads with an SDK: its README, the protocol of that version and the conformance cases.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './ensure.mjs'
import { zip } from './wheel.mjs'

const texts = [
  ['packages/sdk/README.md', 'README-typescript.md', 'README for TypeScript and JavaScript'],
  ['sdks/python/README.md', 'README-python.md', 'README for Python'],
  ['sdks/cpp/README.md', 'README-cpp.md', 'README for C++'],
  ['sdks/csharp/README.md', 'README-csharp.md', 'README for C#'],
  ['docs/client-protocol.md', 'client-protocol.md', 'Protocol and storage format, for any language'],
]
const vectors = join(root, 'sdks/vectors')

/** Writes the documents of a version into `folder`; returns their paths and titles. */
export function writeDocuments(folder, version) {
  const documents = texts.map(([source, name, title]) => {
    copyFileSync(join(root, source), join(folder, name))
    return { path: join(folder, name), title }
  })
  const files = readdirSync(vectors)
    .filter((name) => /\.(json|md)$/.test(name))
    .sort()
    .map((name) => [`vectors/${name}`, readFileSync(join(vectors, name))])
  const path = join(folder, `keyward-vectors-${version}.zip`)
  writeFileSync(path, zip(files))
  return [...documents, { path, title: 'Conformance cases, for any language' }]
}

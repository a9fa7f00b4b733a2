// Writes what the SDK and the protocol page repeat of the contract. Run with `node packages/sdk/generate.ts`; a test
// fails while the files differ.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { errorFacts, type MessageKey, messageDefaults, verdictOrder } from '@keyward/contract'
import { sdkVersion } from '@keyward/contract/sdk-version'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const codesPath = path('src/codes.ts')
const versionPath = path('src/version.ts')
const protocolPath = path('../../docs/client-protocol.md')

const refusals: MessageKey[] = (Object.keys(messageDefaults) as MessageKey[]).filter(
  (key) => key !== 'loggedInMsg',
)

const codes = `// Written by generate.ts from the contract.

/** Why the server refuses, by the name of the message that the app's owner can edit. */
export type LicenseState =
${refusals.map((key) => `  | '${key}'`).join('\n')}
`

const pythonVersion = `# Written by packages/sdk/generate.ts from the contract.

__version__ = "${sdkVersion}"

#: What the program sends as \`\`sdk\`\` when it opens a session.
SDK = "keyward-python/${sdkVersion}"
`

const pythonCodes = `# Written by packages/sdk/generate.ts from the contract.

from typing import Literal

#: Why the server refuses, by the name of the message that the app's owner can edit.
LicenseState = Literal[
${refusals.map((key) => `    "${key}",`).join('\n')}
]
`

const version = `// Written by generate.ts from the contract.

/** What the program sends as \`sdk\` when it opens a session. */
export const sdk = 'keyward-js/${sdkVersion}'
`

const inOrder = (one: MessageKey, other: MessageKey) => rank(one) - rank(other)
const rank = (key: MessageKey) => {
  const at = (verdictOrder as readonly string[]).indexOf(key)
  return at < 0 ? verdictOrder.length : at
}
const name = (key: string) => (refusals.includes(key as MessageKey) ? `\`${key}\`` : key)

function statusRow(status: number, more = ''): string {
  const found = refusals.filter((key) => errorFacts(key).status === status).sort(inOrder)
  return `| ${status} | ${found.map(name).join(', ')}${more} |`
}

const wrongInput =
  ', and wrong input: `invalid_input` (with `errors`), `invalid_json`, `invalid_digest`, `invalid_nonce`'

const sections = {
  statuses: [
    '| Status | Codes |',
    '| --- | --- |',
    statusRow(400, wrongInput),
    ...[401, 403, 404, 409].map((status) => statusRow(status)),
  ].join('\n'),
  order: `${verdictOrder.map(name).join(', ')}.`,
}

/** The file contents as they should be, by path. */
export function generated(): { path: string; content: string }[] {
  let protocol = readFileSync(protocolPath, 'utf8')
  for (const [section, content] of Object.entries(sections)) {
    const marked = new RegExp(
      `(<!-- ${section}: written by packages/sdk/generate.ts -->\\n)[\\s\\S]*?(<!-- end -->)`,
    )
    if (!marked.test(protocol)) throw new Error(`the protocol page has no section ${section}`)
    protocol = protocol.replace(marked, (_all, before, after) => `${before}${content}\n${after}`)
  }
  return [
    { path: codesPath, content: codes },
    { path: versionPath, content: version },
    { path: path('../../sdks/python/keyward/codes.py'), content: pythonCodes },
    { path: path('../../sdks/python/keyward/version.py'), content: pythonVersion },
    { path: protocolPath, content: protocol },
  ]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const file of generated()) writeFileSync(file.path, file.content)
}

// Writes what SDKs, READMEs and pages of documents repeat of the contract: the version of the SDKs, the refusals and the events.
//   node packages/sdk/generate.ts           writes the files; `npm run sdk -- --generate` also writes the conformance cases
//   node packages/sdk/generate.ts --check   fails while a file differs; part of `npm run check`
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  errorFacts,
  leaseEndings,
  type MessageKey,
  messageDefaults,
  placeholderIds,
  verdictOrder,
} from '@keyward/contract'
import { sdkVersion } from '@keyward/contract/sdk-version'
import { fillEvents } from './events-page.ts'

const refusals: MessageKey[] = (Object.keys(messageDefaults) as MessageKey[]).filter(
  (key) => key !== 'loggedInMsg',
)
const placeholders = placeholderIds.map((id) => id.toLowerCase())
const source = 'Written by packages/sdk/generate.ts from the contract.'
const list = (keys: readonly string[], toLine: (key: string) => string) => keys.map(toLine).join('\n')
const capitalized = (key: string) => key.charAt(0).toUpperCase() + key.slice(1)

const typescript = {
  'packages/sdk/src/version.ts': `// ${source}

/** What the program sends as \`sdk\` when it opens a session. */
export const sdk = 'keyward-js/${sdkVersion}'
`,
  'packages/sdk/src/codes.ts': `// ${source}

/** Why the server refuses, by the name of the message that the app's owner can edit. */
export type LicenseState =
${list(refusals, (key) => `  | '${key}'`)}
`,
  'packages/sdk/src/placeholder-ids.ts': `// ${source}

/** Ids and serial numbers that many machines have, in lower case: they identify none of them. */
export const placeholderIds = new Set<string>([
${list(placeholders, (id) => `  '${id}',`)}
])
`,
  'packages/sdk/src/lease-endings.ts': `// ${source}

/** Refusals of the user, the key or the device; mistyped input is not one. */
export const leaseEndings = new Set<string>([
${list(leaseEndings, (key) => `  '${key}',`)}
])
`,
}

const python = {
  'sdks/python/keyward/version.py': `# ${source}

__version__ = "${sdkVersion}"

#: What the program sends as \`\`sdk\`\` when it opens a session.
SDK = "keyward-python/${sdkVersion}"
`,
  'sdks/python/keyward/codes.py': `# ${source}

from typing import Literal

#: Why the server refuses, by the name of the message that the app's owner can edit.
LicenseState = Literal[
${list(refusals, (key) => `    "${key}",`)}
]
`,
  'sdks/python/keyward/placeholder_ids.py': `# ${source}

#: Ids and serial numbers that many machines have, in lower case: they identify none of them.
PLACEHOLDER_IDS = frozenset(
    [
${list(placeholders, (id) => `        "${id}",`)}
    ]
)
`,
  'sdks/python/keyward/lease_endings.py': `# ${source}

#: Refusals of the user, the key or the device; mistyped input is not one.
LEASE_ENDINGS = frozenset(
    [
${list(leaseEndings, (key) => `        "${key}",`)}
    ]
)
`,
}

const cpp = {
  'sdks/cpp/src/version.hpp': `#pragma once

// ${source}
namespace keyward {

/** What the program sends as \`sdk\` when it opens a session. */
inline constexpr const char *sdk = "keyward-cpp/${sdkVersion}";

}  // namespace keyward
`,
  'sdks/cpp/src/placeholder_ids.hpp': `#pragma once

#include "platform.hpp"

// ${source}
namespace keyward::detail {

/** Ids and serial numbers that many machines have, in lower case: they identify none of them. */
inline bool isPlaceholderId(const std::string &id) {
  static const std::set<std::string> &ids = *new std::set<std::string>{
${list(placeholders, (id) => `      "${id}",`)}
  };
  return ids.count(id) > 0;
}

}  // namespace keyward::detail
`,
  'sdks/cpp/src/lease_endings.hpp': `#pragma once

#include "platform.hpp"

// ${source}
namespace keyward::detail {

/** Refusals of the user, the key or the device; mistyped input is not one. */
inline bool endsLease(const std::string &code) {
  static const std::set<std::string> &codes = *new std::set<std::string>{
${list(leaseEndings, (key) => `      "${key}",`)}
  };
  return codes.count(code) > 0;
}

}  // namespace keyward::detail
`,
}

const csharp = {
  'sdks/csharp/src/Internal/SdkVersion.cs': `namespace Keyward.Internal
{
    // ${source}
    internal static class SdkVersion
    {
        /// <summary>What the program sends as <c>sdk</c> when it opens a session.</summary>
        public const string Sdk = "keyward-csharp/${sdkVersion}";
    }
}
`,
  'sdks/csharp/src/LicenseState.cs': `namespace Keyward
{
    // ${source}
    /// <summary>Why the server refuses, by the name of the message that the app's owner can edit. Newer servers may send others.</summary>
    public static class LicenseState
    {
${list(refusals, (key) => `        public const string ${capitalized(key)} = "${key}";`)}
    }
}
`,
  'sdks/csharp/src/Internal/PlaceholderIds.cs': `using System;
using System.Collections.Generic;

namespace Keyward.Internal
{
    // ${source}
    internal static class PlaceholderIds
    {
        /// <summary>Ids and serial numbers that many machines have, in lower case: they identify none of them.</summary>
        public static readonly HashSet<string> All = new HashSet<string>(StringComparer.Ordinal)
        {
${list(placeholders, (id) => `            "${id}",`)}
        };
    }
}
`,
  'sdks/csharp/src/Internal/LeaseEndings.cs': `using System;
using System.Collections.Generic;

namespace Keyward.Internal
{
    // ${source}
    internal static class LeaseEndings
    {
        /// <summary>Refusals of the user, the key or the device; mistyped input is not one.</summary>
        public static readonly HashSet<string> Codes = new HashSet<string>(StringComparer.Ordinal)
        {
${list(leaseEndings, (key) => `            LicenseState.${capitalized(key)},`)}
        };
    }
}
`,
}

const rank = (key: MessageKey) => {
  const at = (verdictOrder as readonly string[]).indexOf(key)
  return at < 0 ? verdictOrder.length : at
}
const name = (key: string) => (refusals.includes(key as MessageKey) ? `\`${key}\`` : key)

function statusRow(status: number, more = ''): string {
  const found = refusals.filter((key) => errorFacts(key).status === status)
  found.sort((one, other) => rank(one) - rank(other))
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

function fillSections(page: string): string {
  let filled = page
  for (const [section, content] of Object.entries(sections)) {
    const marked = new RegExp(
      `(<!-- ${section}: written by packages/sdk/generate.ts -->\\n)[\\s\\S]*?(<!-- end -->)`,
    )
    filled = replaceIn(filled, marked, (_all, before, after) => `${before}${content}\n${after}`)
  }
  const codes = leaseEndings.map(name).join(', ')
  return replaceIn(filled, /(These codes do: )[^.]*\./, (_all, before) => `${before}${codes}.`)
}

function replaceIn(text: string, pattern: RegExp, by: (...match: string[]) => string): string {
  if (text.search(pattern) < 0) throw new Error(`nothing matches ${pattern}`)
  return text.replace(pattern, by)
}

/** The version in addresses and names of files, such as `/sdk/1.3.0/keyward-sdk-1.3.0.tgz`. */
const setVersion = (text: string) =>
  replaceIn(
    text,
    /(\/sdk\/|keyward-(?:sdk-)?|keyward-js\/)\d+\.\d+\.\d+/g,
    (_all, before) => before + sdkVersion,
  )

const setManifest = (text: string) =>
  replaceIn(
    text,
    /("name": "@keyward\/sdk",\s+"version": )"[^"]+"/,
    (_all, before) => `${before}"${sdkVersion}"`,
  )

/**
 * Files that are written by hand except for what these functions replace. npm itself corrects the version in
 * `package-lock.json`, with the next change of a dependency: a change for it alone would install everything again.
 */
const edits: Record<string, (text: string) => string> = {
  'packages/sdk/package.json': setManifest,
  'README.md': setVersion,
  'packages/sdk/README.md': setVersion,
  'sdks/python/README.md': setVersion,
  'sdks/cpp/README.md': setVersion,
  'sdks/csharp/README.md': setVersion,
  'docs/client-protocol.md': (page) => setVersion(fillSections(page)),
  'docs/events.md': (page) => fillEvents(page),
}

const repository = fileURLToPath(new URL('../../', import.meta.url))

/** The files as they should be, by their paths below `root`. */
export function generated(root = repository): Record<string, string> {
  const edited = Object.entries(edits).map(([path, edit]) => [
    path,
    edit(readFileSync(join(root, path), 'utf8')),
  ])
  return { ...typescript, ...python, ...cpp, ...csharp, ...Object.fromEntries(edited) }
}

/** The paths of files that differ from the contract. */
export function outdated(root = repository): string[] {
  const isOutdated = ([path, content]: [string, string]) => readFileSync(join(root, path), 'utf8') !== content
  return Object.entries(generated(root))
    .filter(isOutdated)
    .map(([path]) => path)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const contents = generated()
  const isCheck = process.argv.includes('--check')
  for (const path of outdated()) {
    if (isCheck) console.error(`${path} differs from the contract: run npm run sdk -- --generate`)
    else writeFileSync(join(repository, path), contents[path]!)
  }
  if (isCheck && outdated().length > 0) process.exitCode = 1
}

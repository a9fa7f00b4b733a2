// Joins the sources of the C++ SDK and of the C# SDK into the one file of each that a program adds. `npm run sdk` writes
// both; tests that compile them write them first.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sdkVersion } from '@keyward/contract/sdk-version'

const at = (...parts: string[]) => join(import.meta.dirname, ...parts)

/** The text of `keyward.hpp`: every header below `folder`, each before the headers that include it. */
export function amalgamateCpp(folder = at('cpp/src')): string {
  const parts = new Map<string, string>()
  const add = (name: string) => {
    if (parts.has(name)) return
    parts.set(name, '')
    const { includes, code } = readHeader(join(folder, name))
    for (const include of includes) add(include)
    parts.delete(name)
    parts.set(name, code)
  }
  add('keyward.hpp')
  const forgotten = readdirSync(folder).filter((name) => !parts.has(name))
  if (forgotten.length > 0) throw new Error(`keyward.hpp includes no ${forgotten.join(', ')}`)
  const sections = [...parts].filter(([, code]) => code !== '').map(([name, code]) => `// ${name}\n\n${code}`)
  return `// Keyward SDK for C++17, version ${sdkVersion}. Puts a program behind a Keyward license.
// One header: include it wherever you need it. Linux and macOS link libcurl, Windows links winhttp, bcrypt, advapi32
// and iphlpapi. The server explains the protocol at /docs/client-protocol.
// SPDX-License-Identifier: Apache-2.0
#ifndef KEYWARD_HPP
#define KEYWARD_HPP

${sections.join('\n\n')}

#endif
`
}

function readHeader(path: string): { includes: string[]; code: string } {
  const [, list, code] = /^#pragma once\n\n((?:#include "\w+\.hpp"\n)*)\n?([\s\S]*)$/.exec(read(path)) ?? []
  // A header below a condition would be missing where the condition is false.
  if (list === undefined || code === undefined || /^ *#include "/m.test(code))
    throw new Error(`${path} must begin with #pragma once and its own includes`)
  return { includes: [...list.matchAll(/"(.+)"/g)].map(([, name]) => name!), code: code.trim() }
}

/** The text of `Keyward.cs`: one block for each namespace, which has the sources of one folder below `folder`. */
export function amalgamateCsharp(folder = at('csharp/src')): string {
  const api = readSources(folder, 'Keyward')
  const internal = readSources(join(folder, 'Internal'), 'Keyward.Internal')
  const sources = [...api, ...internal]
  const usings = [...new Set(sources.flatMap(({ usings }) => usings))].sort(
    (one, other) => Number(isOwn(one)) - Number(isOwn(other)) || (one < other ? -1 : 1),
  )
  return `// Keyward for .NET: puts a program behind a Keyward license. Version ${sdkVersion}, Apache License 2.0.
//
// One file for .NET Standard 2.0 and C# 7.0 and later, without packages: add it to your project. With Mono:
// mcs -r:System.Net.Http -r:System.Numerics Program.cs Keyward.cs
// Your server explains the protocol at /docs/client-protocol and lists all versions at /sdk/.
${[...new Set(sources.flatMap(({ symbols }) => symbols))].join('\n')}

${usings.map((name) => `using ${name};`).join('\n')}

namespace Keyward
{
${inOneBlock(api)}
}

// Not part of the API. A namespace of its own keeps these names out of files with "using Keyward".
namespace Keyward.Internal
{
${inOneBlock(internal)}
}
`
}

const isOwn = (namespace: string) => namespace.startsWith('Keyward')

const inOneBlock = (sources: Source[]) =>
  sources.map(({ name, code }) => `    // ${name}\n\n${code}`).join('\n\n')

interface Source {
  name: string
  /** Lines such as `#define TRACE`. */
  symbols: string[]
  usings: string[]
  /** What is in the namespace. */
  code: string
}

function readSources(folder: string, namespace: string): Source[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.cs'))
  return names.sort().map((name) => readSource(join(folder, name), namespace))
}

function readSource(path: string, namespace: string): Source {
  const [, symbols, usings, found, code] =
    /^((?:#define \w+\n)*)\n?((?:using [\w.]+;\n)*)\n?namespace ([\w.]+)\n\{\n([\s\S]*)\n\}\n$/.exec(
      read(path),
    ) ?? []
  if (symbols === undefined || usings === undefined || code === undefined || found !== namespace)
    throw new Error(`${path} must have its usings and then the namespace ${namespace} alone`)
  return {
    name: basename(path),
    symbols: symbols.split('\n').filter((line) => line !== ''),
    usings: [...usings.matchAll(/using (.+);/g)].map(([, using]) => using!),
    code,
  }
}

/** A text file with the line ends that every checkout should have. */
const read = (path: string) => readFileSync(path, 'utf8').replaceAll('\r\n', '\n')

const outputs = {
  cpp: ['cpp/dist/keyward.hpp', amalgamateCpp],
  csharp: ['csharp/dist/Keyward.cs', amalgamateCsharp],
} as const

/** Writes the one file of a language unless it is up to date, and returns its path. */
export function amalgamate(language: keyof typeof outputs): string {
  const [relative, toText] = outputs[language]
  const path = at(relative)
  const text = toText()
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return path
  mkdirSync(dirname(path), { recursive: true })
  // Another test may read the file meanwhile.
  const draft = `${path}.${process.pid}.draft`
  writeFileSync(draft, text)
  renameSync(draft, path)
  return path
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  amalgamate('cpp')
  amalgamate('csharp')
}

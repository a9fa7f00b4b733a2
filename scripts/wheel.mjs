// Packs the Python SDK into a wheel. The same sources give the same bytes on every machine: no compression, no dates.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { root } from './ensure.mjs'

const source = join(root, 'sdks/python')

/** Packs the SDK into a file in `folder` and returns the file's path. */
export function packWheel(folder) {
  const project = readFile('pyproject.toml').toString()
  const field = (name) => new RegExp(`^${name} = .*?"([^"]+)"`, 'm').exec(project)[1]
  const version = /__version__ = "([^"]+)"/.exec(readFile('keyward/version.py').toString())[1]
  const info = `keyward-${version}.dist-info`
  const metadata = [
    'Metadata-Version: 2.1',
    `Name: ${field('name')}`,
    `Version: ${version}`,
    `Summary: ${field('description')}`,
    `License: ${field('license')}`,
    'License-File: LICENSE',
    'Classifier: License :: OSI Approved :: Apache Software License',
    'Classifier: Operating System :: OS Independent',
    'Classifier: Programming Language :: Python :: 3',
    'Classifier: Typing :: Typed',
    `Requires-Python: ${field('requires-python')}`,
    `Requires-Dist: ${field('dependencies')}`,
    'Description-Content-Type: text/markdown',
    '',
    readFile('README.md').toString(),
  ]
  const modules = readdirSync(join(source, 'keyward'))
    .filter((name) => /\.py$|^py\.typed$/.test(name))
    .sort()
  const files = [
    ...modules.map((name) => [`keyward/${name}`, readFile(`keyward/${name}`)]),
    [`${info}/LICENSE`, readFile('LICENSE')],
    [`${info}/METADATA`, Buffer.from(metadata.join('\n'))],
    [
      `${info}/WHEEL`,
      lines('Wheel-Version: 1.0', 'Generator: keyward', 'Root-Is-Purelib: true', 'Tag: py3-none-any'),
    ],
    [`${info}/top_level.txt`, lines('keyward')],
  ]
  const record = files.map(([name, data]) => {
    const hash = createHash('sha256').update(data).digest('base64url')
    return `${name},sha256=${hash},${data.length}`
  })
  files.push([`${info}/RECORD`, lines(...record, `${info}/RECORD,,`)])
  const path = join(folder, `keyward-${version}-py3-none-any.whl`)
  writeFileSync(path, zip(files))
  return path
}

/** A text file with the line ends that every checkout should have. */
const readFile = (path) => Buffer.from(readFileSync(join(source, path), 'utf8').replaceAll('\r\n', '\n'))

const lines = (...texts) => Buffer.from(texts.map((text) => `${text}\n`).join(''))

/** 1 January 1980, the first date that the format knows. */
const firstDate = 0x21
const zipVersion = 20
const madeByUnix = (3 << 8) | zipVersion
const plainFile = (0o100644 << 16) >>> 0

/** An archive without compression: compressed bytes depend on the version of the compressor. */
function zip(files) {
  const chunks = []
  const directory = []
  let offset = 0
  for (const [path, data] of files) {
    const name = Buffer.from(path)
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(zipVersion, 0)
    facts.writeUInt16LE(firstDate, 8)
    facts.writeUInt32LE(crc32(data), 10)
    facts.writeUInt32LE(data.length, 14)
    facts.writeUInt32LE(data.length, 18)
    facts.writeUInt16LE(name.length, 22)
    chunks.push(Buffer.from('PK\x03\x04'), facts, name, data)
    const entry = Buffer.alloc(42)
    entry.writeUInt16LE(madeByUnix, 0)
    facts.copy(entry, 2)
    entry.writeUInt32LE(plainFile, 34)
    entry.writeUInt32LE(offset, 38)
    directory.push(Buffer.from('PK\x01\x02'), entry, name)
    offset += 4 + facts.length + name.length + data.length
  }
  const listing = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(listing.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...chunks, listing, Buffer.from('PK\x05\x06'), end])
}

// Packs the Python SDK into a wheel. The same sources give the same bytes on every machine: the compressor is a package
// of a fixed version, not the runtime's zlib, and every file has the same date.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unzipSync, zipSync } from 'fflate'
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

const plainFile = (0o100644 << 16) >>> 0
const unix = 3

/** Packs pairs of a name and its bytes. The date is in local time, as the format stores it: the first one that it knows. */
export const zip = (files) =>
  zipSync(Object.fromEntries(files), { level: 9, mtime: new Date(1980, 0, 1), os: unix, attrs: plainFile })

/** The bytes of the packed files by their names. */
export const unzip = (bytes) => unzipSync(bytes)

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { generated, outdated } from '../generate.ts'

const repository = fileURLToPath(new URL('../../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'keyward-generated-'))
const paths = Object.keys(generated())
for (const path of paths) cpSync(join(repository, path), join(folder, path))
afterAll(() => rmSync(folder, { recursive: true }))

it.each(paths)('%s matches the contract, and a difference is found', (path) => {
  expect(outdated(folder)).not.toContain(path)
  const file = join(folder, path)
  const text = readFileSync(file, 'utf8')
  // Every file has the version of the SDKs, a refusal, a permission or a placeholder id.
  const planted = text
    .replace(/(sdk\/|sdk-|keyward-\w+[/-]|"version": "|__version__ = ")\d+\.\d+\.\d+/, '$19.9.9')
    .replaceAll('`licenses:read`', '`apps:read`')
  writeFileSync(
    file,
    planted === text ? text.replaceAll(/userBanned|filled by oem/gi, 'userBarred') : planted,
  )
  expect(outdated(folder)).toContain(path)
  writeFileSync(file, text)
})

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFault, missingIn } from './browser.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-browser-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('accepts a browser that runs', () => {
  expect(findFault(process.execPath)).toBeUndefined()
})

test('reports a missing browser in one line, with a solution', () => {
  const path = join(folder, 'none')
  expect(findFault(path)).toMatch(
    /^The browser tests cannot run: \S+none does not start \(.+\)\. Install Chromium .+$/,
  )
})

test.skipIf(process.platform === 'win32')('says in one line why a browser does not start', () => {
  const path = join(folder, 'browser')
  writeFileSync(path, '#!/bin/sh\necho "error while loading: libx.so" >&2\necho more >&2\nexit 127\n')
  chmodSync(path, 0o755)
  expect(findFault(path)).toMatch(/does not start \(error while loading: libx\.so\)\. Install Chromium .+$/)
})

test('lists every missing library once', () => {
  const output = `\tlibnss3.so => not found
\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f)
\tlibnspr4.so => not found
\tlibnss3.so => not found`
  expect(missingIn(output)).toEqual(['libnss3.so', 'libnspr4.so'])
})

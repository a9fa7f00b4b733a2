import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const releases = fileURLToPath(new URL('../../../sdks/releases', import.meta.url))
const script = fileURLToPath(new URL('../../../scripts/published.mjs', import.meta.url))
const file = '1.2.1/keyward.hpp'

let folder: string
const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'ignore' })
const commit = () => {
  git('add', '-A')
  git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-q', '-m', 'Release')
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-published-'))
  cpSync(releases, folder, { recursive: true })
  git('init', '-q')
  commit()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function check(): { status: number | null; faults: string } {
  const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' })
  return { status, faults: stderr }
}

/** Replaces a digest in both lists, as a second release of the same version would. */
function republish() {
  const list = readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
  const [, before] = new RegExp(`^([0-9a-f]{64}) {2}${file}$`, 'm').exec(list)!
  appendFileSync(join(folder, file), '\n')
  const after = createHash('sha256')
    .update(readFileSync(join(folder, file)))
    .digest('hex')
  for (const name of ['SHA256SUMS', 'index.json']) {
    const path = join(folder, name)
    writeFileSync(path, readFileSync(path, 'utf8').replace(before!, after))
  }
}

test('the check accepts the published SDKs as they are', () => {
  expect(check()).toEqual({ status: 0, faults: '' })
})

test('the check refuses a published file with other bytes, and a missing one', () => {
  appendFileSync(join(folder, file), '\n')
  expect(check()).toMatchObject({
    status: 1,
    faults: expect.stringContaining(`${file} is not the published`),
  })
  rmSync(join(folder, file))
  expect(check()).toMatchObject({ status: 1, faults: expect.stringContaining(`${file} is missing`) })
})

test('the check refuses a version that is published a second time, also after the commit', () => {
  republish()
  expect(check()).toMatchObject({ status: 1, faults: expect.stringContaining('lost or changed the line') })
  commit()
  expect(check()).toMatchObject({ status: 1, faults: expect.stringContaining('lost or changed the line') })
})

test('the check refuses a file of the index that the list of digests does not name', () => {
  const list = join(folder, 'SHA256SUMS')
  writeFileSync(list, readFileSync(list, 'utf8').replace(/^.*1\.1\.0.*\n/m, ''))
  expect(check()).toMatchObject({ status: 1, faults: expect.stringContaining('index.json and SHA256SUMS') })
})

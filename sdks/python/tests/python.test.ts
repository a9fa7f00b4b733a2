import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { findLanguage } from '../../conformance/languages.ts'

const folder = fileURLToPath(new URL('..', import.meta.url))
const { missing, command } = findLanguage('python')

describe.skipIf(missing !== undefined)('the Python SDK', () => {
  it('passes its unit tests', async () => {
    const [python] = await command()
    const args = ['-W', 'error::ResourceWarning', '-m', 'unittest', 'discover', '-t', '.', '-s', 'tests']
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', http_proxy: '', https_proxy: '' }
    const { stderr } = await promisify(execFile)(python!, args, { cwd: folder, env, maxBuffer: 16_000_000 })
    expect(stderr).toMatch(/^Ran \d{2,} tests in/m)
    expect(stderr.trimEnd()).toMatch(/\nOK$/)
  })
})

import { expect, test } from 'vitest'
import { besides, guessArtifact, newestCovered, nextVersion } from './release-rules.ts'

const now = Date.parse('2026-06-15T12:00:00Z')
const release = (version: string, releasedAt: string, more = {}) => ({
  ...{
    version,
    releasedAt: `${releasedAt}T23:59:59.999Z`,
    channel: 'stable',
    withdrawnAt: null,
    security: null,
  },
  ...more,
})
const security = { severity: 'high' as const, affects: [], summary: 'a', advisory: null }

test('a license gets the newest version of its time, and every security fix', () => {
  const releases = [
    release('1.9.0', '2026-01-01'),
    release('1.10.0', '2026-02-01'),
    release('1.11.0', '2026-03-01', { withdrawnAt: '2026-03-02T00:00:00.000Z' }),
    release('1.12.0', '2026-03-01', { channel: 'beta' }),
    release('2.0.0', '2026-05-01'),
    release('2.1.0', '2026-06-20', { security }),
  ]
  const newest = (until: string, more = releases) => newestCovered(more, Date.parse(until), now)?.version
  expect(newest('2026-01-31')).toBe('1.9.0')
  expect(newest('2026-04-01')).toBe('1.10.0')
  expect(newest('2026-12-31')).toBe('2.0.0')
  expect(newest('2025-01-01')).toBeUndefined()
  expect(newest('2025-01-01', [...releases, release('1.8.1', '2026-06-15', { security })])).toBe('1.8.1')
})

test('the name of a file says what it is for', () => {
  expect(guessArtifact('Atlas Setup 1.2.0.exe')).toEqual({
    ...{ platform: 'windows', architecture: 'x64', kind: 'installer' },
  })
  expect(guessArtifact('Atlas-1.2.0-arm64-mac.zip')).toEqual({
    ...{ platform: 'macos', architecture: 'arm64', kind: 'archive' },
  })
  expect(guessArtifact('atlas_1.2.0_linux_x86_64.tar.gz')).toEqual({
    ...{ platform: 'linux', architecture: 'x64', kind: 'archive' },
  })
  expect(guessArtifact('Atlas-1.2.0-delta.nupkg').kind).toBe('delta')
})

test('proposes the next version, and an address beside the last file', () => {
  expect(nextVersion(['1.9.0', '1.10.2'])).toBe('1.10.3')
  expect(besides('https://example.com/1.2.0/a.exe', 'Größe 1.dmg')).toBe(
    'https://example.com/1.2.0/Gr%C3%B6%C3%9Fe%201.dmg',
  )
  expect(besides(undefined, 'a')).toBe('')
})

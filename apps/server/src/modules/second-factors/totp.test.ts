import { describe, expect, test } from 'vitest'
import { findStep, newTotpSecret, toTotpUri } from './totp.ts'

/** `12345678901234567890`, the seed of RFC 6238, appendix B, in base32. */
const seed = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

describe('codes by time', () => {
  // The appendix lists eight digits; six are the last ones of them (RFC 4226, section 5.3).
  test.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('match RFC 6238, appendix B, at second %i', async (seconds, code) => {
    expect(await findStep(seed, code.slice(2), seconds * 1000)).toBe(Math.floor(seconds / 30))
  })

  test('count one step before and after the current one, and no further', async () => {
    const at = (seconds: number) => findStep(seed, '287082', seconds * 1000)
    expect(await Promise.all([29, 30, 59, 60, 89, 90, 119].map(at))).toEqual([
      1,
      1,
      1,
      1,
      1,
      undefined,
      undefined,
    ])
    expect(await findStep(seed, '081804', 1_111_111_109_000 - 61_000)).toBeUndefined()
  })

  test('may be typed with spaces, and have six digits', async () => {
    expect(await findStep(seed, ' 287 082', 59_000)).toBe(1)
    for (const wrong of ['28708', '2870820', '94287082', '28708a', '', '٢٨٧٠٨٢', '287081']) {
      expect(await findStep(seed, wrong, 59_000)).toBeUndefined()
    }
  })
})

test('a secret has 160 random bits, and the URI names server, person and secret', async () => {
  const [one, two] = [await newTotpSecret(), await newTotpSecret()]
  expect(one).toMatch(/^[A-Z2-7]{32}$/)
  expect(one).not.toBe(two)
  const uri = new URL(
    await toTotpUri(one, { issuer: 'Keyward licenses.example.com', label: 'a+b@example.com' }),
  )
  expect(uri.protocol + uri.host).toBe('otpauth:totp')
  expect(decodeURIComponent(uri.pathname)).toBe('/Keyward licenses.example.com:a+b@example.com')
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    issuer: 'Keyward licenses.example.com',
    secret: one,
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  })
})

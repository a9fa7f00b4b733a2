import { expect, test } from 'vitest'
import { describeAgent, isPhoneAgent } from './agent.ts'

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)'

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on Linux'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/142.0.0.0 Safari/537.36`, 'Chrome on Windows'],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`,
    'Edge on Windows',
  ],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Chrome/142.0.0.0 Safari/537.36 OPR/126.0.0.0`,
    'Opera on macOS',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15',
    'Safari on macOS',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0.7444.77 Mobile/15E148 Safari/604.1',
    'Chrome on iPhone',
  ],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webkit} Chrome/142.0.0.0 Safari/537.36`, 'Chrome on ChromeOS'],
  [
    `Mozilla/5.0 (Linux; Android 16; SM-S931B) ${webkit} SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet on Android',
  ],
  [`Mozilla/5.0 (Linux; Android 16; Pixel 9) ${webkit}`, 'Browser on Android'],
  ['curl/8.15.0', 'curl'],
  ['python-requests/2.32.5', 'python-requests'],
  ['?', 'Unknown browser'],
  ['', 'Unknown browser'],
  [null, 'Unknown browser'],
])('describes %j as %s', (agent, words) => {
  expect(describeAgent(agent)).toBe(words)
})

test('distinguishes phones from computers', () => {
  expect(isPhoneAgent('Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X)')).toBe(true)
  expect(isPhoneAgent('Mozilla/5.0 (X11; Linux x86_64)')).toBe(false)
  expect(isPhoneAgent(null)).toBe(false)
})

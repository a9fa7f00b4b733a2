import { expect, test } from 'vitest'
import { endUserName, nameWithKey } from './end-user-name.ts'

const key = 'ABCDE-FGHJK-MNPQR-STVWX-YZ012'

test.each([
  ['ada', key, 'eve', 'ada'],
  ['ada', null, null, 'ada'],
  [key, key, 'ada@buyers.example', 'ada@buyers.example'],
  [key, key, null, 'Unnamed'],
  [`TOOL-${key}`, null, null, 'Unnamed'],
  [key, null, 'Old PC', 'Old PC'],
])(
  'an end user %s with the key %s that is known as %s is called %s',
  (username, licenseKey, knownAs, name) => {
    expect(endUserName({ username, licenseKey, knownAs })).toBe(name)
  },
)

test('a question shows the beginning of a key beside what its end user is called', () => {
  expect(nameWithKey({ username: key, licenseKey: null })).toBe('Unnamed (ABCDE-FGHJK-MNPQ…)')
})

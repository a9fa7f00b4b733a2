import { expect, test } from 'vitest'
import { offlineSentence } from './offline.ts'

const user = (username: string, until?: string | null) => ({
  username,
  licenseKey: null,
  offline: until === undefined ? null : { until },
})
const march = '2027-03-03T12:00:00.000Z'
const april = '2027-04-04T12:00:00.000Z'

test.each([
  [[user('ada')], undefined],
  [[user('ada'), user('bob')], undefined],
  [
    [user('ada', march)],
    'A program of ada can go on running without a connection until Mar 03, 2027 at the latest.',
  ],
  [
    [user('ada', null)],
    'A program of ada can go on running without a connection for good, because of an activation file that never ends.',
  ],
  [
    [{ ...user('my-key', march), licenseKey: 'my-key' }],
    'A program of the end user can go on running without a connection until Mar 03, 2027 at the latest.',
  ],
  [
    [{ ...user('my-key', march), licenseKey: 'my-key', knownAs: 'Old PC' }],
    'A program of Old PC can go on running without a connection until Mar 03, 2027 at the latest.',
  ],
  [
    [user('ada', april), user('bob')],
    'A program of one of them can go on running without a connection until Apr 04, 2027 at the latest.',
  ],
  [
    [user('ada', april), user('bob', march), user('eve')],
    'Programs of 2 of them can go on running without a connection until Apr 04, 2027 at the latest.',
  ],
  [
    [user('ada', april), user('bob', null), user('eve', march)],
    'Programs of 3 of them can go on running without a connection: 1 for good, because of an activation file that never ends, the others until Apr 04, 2027 at the latest.',
  ],
])('states until when programs of %j run offline', (users, sentence) => {
  expect(offlineSentence(users)).toBe(sentence)
})

import { messageDefaults } from '@keyward/contract'
import { expect, test } from 'vitest'
import { findMessages, messageGroups } from './message-groups.ts'

const find = (search: string) =>
  findMessages(search, (key) => messageDefaults[key]).flatMap(({ keys }) => keys)

test('the groups have every message exactly once', () => {
  const keys = messageGroups.flatMap((group) => group.keys)
  expect(keys.toSorted()).toEqual(Object.keys(messageDefaults).toSorted())
})

test.each([
  ['', Object.keys(messageDefaults).length],
  ['KEYUSED', 1],
  ['license key', 3],
  ['key banned', 1],
  ['devices', 3],
  ['nothing like it', 0],
])('the search for %j finds %d messages', (search, count) => {
  expect(find(search)).toHaveLength(count)
})

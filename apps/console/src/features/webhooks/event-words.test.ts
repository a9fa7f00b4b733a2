import { eventFacts, eventNames, testEvent } from '@keyward/contract/event-types'
import { expect, test } from 'vitest'
import { describeEvents, eventGroups, eventLabel } from './event-words.ts'

test('offers every event once, in groups that need one permission each', () => {
  expect(eventGroups.flatMap(({ events }) => events).toSorted()).toEqual(eventNames.toSorted())
  for (const { label, events, permission } of eventGroups) {
    expect([...new Set(events.map((name) => eventFacts(name).permission))], label).toEqual([permission])
  }
})

test('names every event in words', () => {
  for (const name of [...eventNames, testEvent]) expect(eventLabel(name)).not.toContain('.')
  expect(eventLabel('future.happened')).toBe('future.happened')
})

test('describes the chosen events in a few words', () => {
  const licenses = eventGroups[0]!.events
  expect(describeEvents(['*'])).toBe('All events')
  expect(describeEvents(['license.banned', 'license.unbanned'])).toBe('License banned, License unbanned')
  expect(describeEvents(licenses)).toBe('Licenses')
  expect(describeEvents([...licenses, 'release.added'])).toBe('Licenses, Release added')
  expect(describeEvents(['license.banned', 'license.deleted', 'app.created', 'app.deleted'])).toBe(
    'License banned and 3 more',
  )
})

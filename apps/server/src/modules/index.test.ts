import { type DeliveredName, eventFacts, eventNames, testEvent } from '@keyward/contract'
import { expect, test } from 'vitest'
import { modules } from './index.ts'

test('one module says of each noun of an event what its object is, or that no call shows one', () => {
  const described = modules.flatMap(({ objects = {} }) => Object.keys(objects)).sort()
  const delivered: readonly DeliveredName[] = [...eventNames, testEvent]
  const nouns = new Set(delivered.map((name) => eventFacts(name).noun))
  expect(described).toEqual([...nouns].sort())
})

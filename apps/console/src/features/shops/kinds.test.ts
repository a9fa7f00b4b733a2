import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { shopKinds } from '@keyward/contract'
import { expect, test } from 'vitest'
import { kindFacts } from './kinds.ts'

const guide = readFileSync(fileURLToPath(new URL('../../../../../docs/shops.md', import.meta.url)), 'utf8')
const sections = new Map(
  guide.split('\n## ').map((section) => [section.split('\n', 1)[0] ?? '', section] as const),
)

/** The events of a section: behind `Events:`, or those that its command subscribes to. */
function eventsIn(section: string): string[] {
  const listed = /- Events: ([\s\S]*?)\n\n/.exec(section)?.[1]
  if (listed !== undefined) return [...listed.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  return (/for name in (.*); do/.exec(section)?.[1] ?? '').split(' ')
}

test.each(shopKinds.filter((kind) => kind !== 'custom'))(
  '%s is told to send the events of the guide',
  (kind) => {
    const { label, events } = kindFacts(kind)
    const section = sections.get(label)
    expect(section).toBeDefined()
    expect(events).toEqual(eventsIn(section ?? ''))
  },
)

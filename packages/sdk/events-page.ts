// The part of docs/events.md that lists all events. Labels and permissions come from the contract, and the examples from
// the server's test of event bodies, which compares them with what the server sends and writes them on demand.
import {
  type ActionName,
  actionLabels,
  type DeliveredName,
  type EventNoun,
  eventFacts,
  eventNames,
  testEvent,
} from '@keyward/contract'

/** The events of the page, by what they are about. */
const groups: Readonly<Record<string, readonly EventNoun[]>> = {
  Licenses: ['license', 'licenses'],
  'End users': ['end_user', 'end_users'],
  Imports: ['import'],
  Customers: ['customer'],
  'Devices and programs': ['device', 'program'],
  Blocklist: ['block'],
  Apps: ['app'],
  'License types and releases': ['license_type', 'release'],
  'Shops and orders': ['shop', 'shop_order'],
  Resellers: ['reseller'],
  'Plan and payments': ['plan', 'order', 'payment'],
  Team: ['member'],
  Account: ['owner', 'vendor', 'api_key', 'api_keys'],
  Settings: ['settings', 'notifications', 'platform'],
  Webhooks: ['webhook'],
}

const otherLabels: Readonly<Record<string, string>> = {
  'program.refused': 'A program was refused; at most once a minute for each end user and code',
  [testEvent]: 'The event that **Send a test** sends, whatever events the webhook has chosen',
}

const delivered: readonly DeliveredName[] = [...eventNames, testEvent]
const section = /(<!-- events: written by packages\/sdk\/generate.ts -->\n)[\s\S]*?(<!-- end -->)/
const writeExamples =
  'WRITE_EVENT_EXAMPLES=1 npx vitest run --project sqlite apps/server/test/slices/event-bodies.test.ts'

/** The example bodies of a page, as JSON, by the names of their events. */
export const readExamples = (page: string): Map<string, string> =>
  new Map(
    [...page.matchAll(/```json\n(\{\n {2}"type": "([a-z_.]+)"[\s\S]*?)\n```/g)].map(([, json, name]) => [
      name!,
      json!,
    ]),
  )

/** Writes the events into the page, with its own examples or with newer ones. */
export function fillEvents(page: string, examples = readExamples(page)): string {
  const known = new Set(Object.values(groups).flat())
  const forgotten = delivered.find((name) => !known.has(eventFacts(name).noun))
  if (forgotten) throw new Error(`packages/sdk/events-page.ts has no group for ${forgotten}`)
  const parts = Object.entries(groups).map(([title, nouns]) => {
    const events = nouns.flatMap((noun) => delivered.filter((name) => eventFacts(name).noun === noun))
    return [`## ${title}`, ...events.map((name) => toEntry(name, examples))].join('\n\n')
  })
  if (!section.test(page)) throw new Error('docs/events.md has no section for events')
  return page.replace(section, (_all, before, after) => `${before}\n${parts.join('\n\n')}\n\n${after}`)
}

function toEntry(name: DeliveredName, examples: ReadonlyMap<string, string>): string {
  const example = examples.get(name)
  if (!example) throw new Error(`docs/events.md has no example of ${name}: run ${writeExamples}`)
  const label = otherLabels[name] ?? actionLabels[name as ActionName]
  const parsed = toCompact(JSON.parse(example))
  return `### ${name}\n\n${label}. Permission: \`${eventFacts(name).permission}\`.\n\n\`\`\`json\n${parsed}\n\`\`\``
}

/** One line for each part of the body, so that a page with all events stays readable. */
function toCompact({ type, timestamp, data }: { type: string; timestamp: string; data: object }): string {
  const parts = Object.entries(data).map(([name, value]) => `    "${name}": ${toLine(value)}`)
  return [
    '{',
    `  "type": ${JSON.stringify(type)},`,
    `  "timestamp": ${JSON.stringify(timestamp)},`,
    '  "data": {',
    parts.join(',\n'),
    '  }',
    '}',
  ].join('\n')
}

function toLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${toLine(each)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

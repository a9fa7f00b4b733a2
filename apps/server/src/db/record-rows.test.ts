import { type ActionName, actions, limits } from '@keyward/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toStoredDetail } from './record-rows.ts'

const bytes = (text: string) => Buffer.byteLength(text)

type JsonSchema = {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  items?: JsonSchema
  maxItems?: number
  maxLength?: number
  properties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema | boolean
}

/** The largest value that a schema allows; where it names no bound, much more than any caller sends. */
function largest(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum.toSorted((a, b) => String(b).length - String(a).length)[0]
  if (schema.anyOf) {
    const all = schema.anyOf.map(largest)
    return all.toSorted((a, b) => JSON.stringify(b).length - JSON.stringify(a).length)[0]
  }
  const kind = [schema.type].flat().find((one) => one !== 'null')
  if (kind === 'string') return '\u20ac'.repeat(schema.maxLength ?? 5000)
  if (kind === 'array')
    return Array.from({ length: schema.maxItems ?? 1000 }, () => largest(schema.items ?? {}))
  if (kind === 'object') {
    const { properties = {}, additionalProperties: more } = schema
    const named = Object.entries(properties).map(([name, member]) => [name, largest(member)])
    const value = typeof more === 'object' ? largest(more) : undefined
    const others = value === undefined ? [] : Array.from({ length: 100 }, (_, at) => [`name ${at}`, value])
    return Object.fromEntries([...named, ...others])
  }
  return kind === 'boolean' ? false : Number.MIN_SAFE_INTEGER
}

const schemaOf = (action: ActionName) =>
  z.toJSONSchema(actions[action], { unrepresentable: 'any', io: 'output' }) as JsonSchema

test('the largest detail of every action takes 1 KiB at most', () => {
  const names = Object.keys(actions) as ActionName[]
  const sizes = names.map((action) => [action, bytes(toStoredDetail(largest(schemaOf(action))))] as const)
  expect(sizes.filter(([, size]) => size > limits.recordDetailBytes)).toEqual([])
})

test('no detail takes more than 1 KiB, whatever it contains', () => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 4, maxKeys: 60, withNullPrototype: false }), (detail) => {
      expect(bytes(toStoredDetail(detail))).toBeLessThanOrEqual(limits.recordDetailBytes)
    }),
  )
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`member ${at}`, at]))
  expect(bytes(toStoredDetail(wide))).toBeLessThanOrEqual(limits.recordDetailBytes)
})

describe('a long detail', () => {
  const names = Array.from({ length: 200 }, (_, at) => `variable ${at}`)

  test('keeps its short lists and gives counts and digests of the long ones', () => {
    const stored = JSON.parse(toStoredDetail({ added: names, changed: ['host'], removed: [] }))
    const digest = expect.stringMatching(/^[0-9a-f]{32}$/)
    expect(stored).toEqual({ added: { count: 200, digest }, changed: ['host'], removed: [] })
  })

  test('has the same digest for the same list, and another one for another list', () => {
    const digestOf = (added: string[]) => JSON.parse(toStoredDetail({ added })).added.digest
    expect(digestOf(names)).toBe(digestOf([...names]))
    expect(digestOf(names)).not.toBe(digestOf([...names.slice(1), 'another']))
  })

  test('keeps each short field together with long ones', () => {
    const fields = (seats: number) => ({ name: 'Pro', seats, features: names, note: 'x'.repeat(900) })
    const stored = JSON.parse(toStoredDetail({ before: fields(1), after: fields(2) }))
    expect(stored.after).toMatchObject({
      name: 'Pro',
      seats: 2,
      features: { count: 200 },
      note: { count: 900 },
    })
    expect(stored.before.seats).toBe(1)
  })
})

test('a detail of 1 KiB or less is stored as it is', () => {
  const detail = { before: { note: '\u20ac'.repeat(100) }, after: { note: null } }
  expect(toStoredDetail(detail)).toBe(JSON.stringify(detail))
})

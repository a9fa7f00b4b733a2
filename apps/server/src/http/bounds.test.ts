import { type Endpoint, limits } from '@keyward/contract'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { everyRow } from '../../test/every-row.ts'
import { allEndpoints, buildOpenApi } from './openapi.ts'

interface Schema {
  type?: string
  format?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  propertyNames?: Schema
  additionalProperties?: Schema | boolean
  maxLength?: number
  maxItems?: number
}

const toInput = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' }) as Schema

/** The places in a schema that accept a value of any size. */
function unbounded(schema: Schema, path: string): string[] {
  if (schema.enum ?? schema.const) return []
  if (schema.anyOf) return schema.anyOf.flatMap((part) => unbounded(part, path))
  switch (schema.type) {
    case 'string':
      return schema.maxLength === undefined ? [path] : []
    case 'array':
      return [...(schema.maxItems === undefined ? [path] : []), ...unbounded(schema.items ?? {}, `${path}[]`)]
    case 'object': {
      const inside = Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
        unbounded(part, `${path}.${name}`),
      )
      const rest = schema.additionalProperties
      if (typeof rest !== 'object') return inside
      const open = schema.propertyNames?.enum ? [] : [`${path}.*`]
      return [...inside, ...open, ...unbounded(rest, `${path}.*`)]
    }
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null':
      return []
    default:
      return [path]
  }
}

/** The largest JSON size of a value of a schema, without escapes. */
function bytesOf(schema: Schema): number {
  const sum = (parts: number[]) => parts.reduce((total, part) => total + part, 0)
  const listed = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  if (listed) return Math.max(...listed.map((value) => JSON.stringify(value).length))
  if (schema.anyOf) return Math.max(...schema.anyOf.map(bytesOf))
  if (schema.type === 'string') return 3 * (schema.maxLength ?? 0) + 2
  if (schema.type === 'array') return (schema.maxItems ?? 0) * (bytesOf(schema.items ?? {}) + 1) + 2
  if (schema.type !== 'object') return 24
  const names = (schema.propertyNames?.enum ?? []) as string[]
  const rest = typeof schema.additionalProperties === 'object' ? bytesOf(schema.additionalProperties) : 0
  return (
    2 +
    sum(Object.entries(schema.properties ?? {}).map(([name, part]) => name.length + 4 + bytesOf(part))) +
    sum(names.map((name) => name.length + 4 + rest))
  )
}

/** The most values that a schema accepts, its lists and objects included. */
function valuesOf(schema: Schema): number {
  if (schema.anyOf) return Math.max(...schema.anyOf.map(valuesOf))
  if (schema.type === 'array') return 1 + (schema.maxItems ?? 0) * valuesOf(schema.items ?? {})
  if (schema.type !== 'object') return 1
  const rest = typeof schema.additionalProperties === 'object' ? valuesOf(schema.additionalProperties) : 0
  const names = schema.propertyNames?.enum?.length ?? 0
  return Object.values(schema.properties ?? {}).reduce((sum, part) => sum + valuesOf(part), 1 + names * rest)
}

const all = allEndpoints.map(({ name, endpoint }) => [name, endpoint] as const)
const limitOf = (endpoint: Endpoint) => endpoint.bodyLimit ?? limits.bodyBytesMax

test('every call bounds every text, list and record', () =>
  everyRow(all, (_name, { params, query, body }) => {
    const open = Object.entries({ params, query, body }).flatMap(([where, schema]) =>
      schema === undefined ? [] : unbounded(toInput(schema), where),
    )
    expect(open).toEqual([])
  }))

test('strangers have no body of more than 16 KiB parsed before its signature is checked', () => {
  const large = all.filter(([, one]) => one.access !== 'owner' && limitOf(one) > limits.bodyBytesMax)
  expect(large.filter(([, { raw }]) => !raw).map(([name]) => name)).toEqual([])
})

// An import leaves the full megabyte to its text, which is mostly ASCII, as a logo is; variables are bounded together.
test('every call has a body limit that fits its largest body', () =>
  everyRow(
    all.filter(
      ([name, { body }]) =>
        body && !/^(bulk.importLicenses|imports.create|variables.*|profiles.*)$/.test(name),
    ),
    (_name, endpoint) => {
      expect(bytesOf(toInput(endpoint.body as z.ZodType))).toBeLessThanOrEqual(limitOf(endpoint))
    },
  ))

test('every call accepts as many values as its largest body has', () =>
  everyRow(
    all.filter(([, { body }]) => body),
    (_name, { body, valuesMax = limits.bodyValuesMax }) => {
      expect(valuesOf(toInput(body as z.ZodType))).toBeLessThanOrEqual(valuesMax)
    },
  ))

test('only calls that need it accept more than 16 KiB', () => {
  const larger = all.filter(([, endpoint]) => limitOf(endpoint) > 16_384)
  expect(Object.fromEntries(larger.map(([name, endpoint]) => [name, limitOf(endpoint)]))).toEqual({
    'apiKeys.create': 65_536,
    'hooks.receive': 262_144,
    'shops.create': 196_608,
    'shops.update': 196_608,
    'orders.retry': 32_768,
    'members.invite': 65_536,
    'members.update': 65_536,
    'apps.update': 65_536,
    'apps.updateErrorMessages': 65_536,
    'appMails.update': 262_144,
    'profiles.update': 327_680,
    'profiles.updateOfApp': 327_680,
    'blocklist.setHashes': 393_216,
    'bulk.licenses': 65_536,
    'licenseTypes.create': 65_536,
    'licenseTypes.update': 131_072,
    'licenses.update': 32_768,
    'bulk.undoLicenses': 1_048_576,
    'bulk.undoClients': 1_048_576,
    'bulk.clients': 65_536,
    'bulk.importLicenses': 1_048_576,
    'imports.create': 1_048_576,
    'imports.putFile': 67_108_864,
    'variables.setApp': 262_144,
    'variables.setClient': 262_144,
    'releases.add': 524_288,
    'releases.update': 1_048_576,
    'payments.webhook': 131_072,
    'webhooks.create': 65_536,
    'webhooks.update': 65_536,
  })
})

test('the documentation names every body limit', () => {
  const { paths } = buildOpenApi() as {
    paths: Record<string, Record<string, { requestBody?: { description: string } }>>
  }
  for (const [, endpoint] of all) {
    if (!endpoint.body) continue
    const path = `/api${endpoint.path.replace(/:(\w+)/g, '{$1}')}`
    const described = paths[path]?.[endpoint.method.toLowerCase()]?.requestBody?.description
    expect(described).toBe(`At most ${limitOf(endpoint).toLocaleString('en-US')} bytes of JSON`)
  }
})

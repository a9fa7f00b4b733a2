import { acceptsIdempotencyKey, apiKeyPermissions, errorFacts, permissionsNamed } from '@keyward/contract'
import { expect, test } from 'vitest'
import { everyRow } from '../../test/every-row.ts'
import { allEndpoints, buildOpenApi, errorsOf } from './openapi.ts'

interface Response {
  description: string
  headers?: Record<string, object>
  content?: Record<string, { schema: { properties?: { code?: { enum: string[] } } } }>
}

interface Operation {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  parameters: { name: string; in: string; required: boolean; schema: object }[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<string, Response & { $ref?: string }>
  security: Record<string, unknown>[]
}

const document = JSON.parse(JSON.stringify(buildOpenApi())) as {
  openapi: string
  info: { title: string; version: string }
  paths: Record<string, Record<string, Operation>>
  components: {
    securitySchemes: Record<string, object>
    schemas: Record<string, object>
    responses: Record<string, Response>
  }
}

/** The response itself where a call refers to one. */
const resolve = (response: Operation['responses'][string] | undefined): Response | undefined =>
  response?.$ref ? document.components.responses[response.$ref.split('/').at(-1)!] : response
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

/** Every schema in the document, including nested ones. */
function* schemasIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Record<string, unknown>
  for (const part of Object.values(value)) yield* schemasIn(part)
}

test('declares OpenAPI 3.1, its title and version', () => {
  expect(document.openapi).toMatch(/^3\.1\.\d+$/)
  expect(document.info).toMatchObject({
    title: 'Keyward API',
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
  })
})

test('describes every call of the contract and nothing else', () => {
  const described = operations.map(({ path, method }) => `${method} ${path}`).sort()
  const known = allEndpoints.map(
    ({ endpoint }) => `${endpoint.method.toLowerCase()} /api${endpoint.path.replace(/:(\w+)/g, '{$1}')}`,
  )
  expect(described).toEqual(known.sort())
  const ids = operations.map(({ operation }) => operation.operationId)
  expect(new Set(ids).size).toBe(ids.length)
})

const named = operations.map((one) => [`${one.method} ${one.path}`, one] as const)

test('every call names each path parameter and has no body with GET', () =>
  everyRow(named, (_name, { path, method, operation }) => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    const described = operation.parameters.filter((parameter) => parameter.in === 'path')
    expect(described.map((parameter) => parameter.name)).toEqual(inPath)
    expect(described.every((parameter) => parameter.required)).toBe(true)
    for (const parameter of operation.parameters) {
      expect(['path', 'query', 'header']).toContain(parameter.in)
      expect(parameter.schema).toBeTypeOf('object')
    }
    const names = operation.parameters.map((parameter) => `${parameter.in} ${parameter.name}`)
    expect(new Set(names).size).toBe(names.length)
    if (method === 'get') expect(operation.requestBody).toBeUndefined()
  }))

test('every call has a summary, one success, and a description for each status', () =>
  everyRow(named, (_name, { operation }) => {
    expect(operation.summary).not.toBe('')
    expect(operation.tags).toHaveLength(1)
    const statuses = Object.keys(operation.responses)
    expect(statuses.filter((status) => /^2\d\d$/.test(status))).toHaveLength(1)
    for (const status of statuses) {
      expect(status).toMatch(/^[2-5]\d\d$/)
      expect(resolve(operation.responses[status])?.description).toBeTruthy()
    }
  }))

test('every call uses documented security schemes only', () =>
  everyRow(named, (_name, { operation }) => {
    for (const scheme of operation.security.flatMap(Object.keys)) {
      expect(document.components.securitySchemes).toHaveProperty(scheme)
    }
  }))

const endpointOf = new Map(allEndpoints.map(({ name, endpoint }) => [name, endpoint]))

test('every call lists its error codes at their status, and where it may say when to try again', () =>
  everyRow(named, (_name, { operation }) => {
    const failures = Object.entries(operation.responses).filter(([status]) => !/^2/.test(status))
    const listed = failures.flatMap(([status, response]) => {
      const { content, headers = {} } = resolve(response)!
      expect(Object.keys(headers)).toEqual(['429', '503'].includes(status) ? ['Retry-After'] : [])
      const codes = content!['application/json']!.schema.properties!.code!.enum
      return codes.map((code) => `${status} ${code}`)
    })
    const endpoint = endpointOf.get(operation.operationId)!
    const known = errorsOf(endpoint).map((code) => `${errorFacts(code).status} ${code}`)
    expect(listed.sort()).toEqual(known.sort())
  }))

test('every call says which permission it needs, and whether API keys may make it', () =>
  everyRow(named, (_name, { operation }) => {
    const { access, permission, personal } = endpointOf.get(operation.operationId)!
    const accepted = operation.security.flatMap(Object.keys)
    if (permission === 'api_key') {
      expect(accepted).toEqual(['apiKey'])
      expect(operation.description).toContain('Only an API key')
      return
    }
    const named = permission === undefined ? [] : permissionsNamed(permission)
    const takesApiKey = !personal && named.some((one) => apiKeyPermissions.includes(one))
    expect(accepted).toEqual(
      ['public', 'program'].includes(access) ? [] : [access, ...(takesApiKey ? ['apiKey'] : [])],
    )
    const needs = typeof permission === 'object' && 'anyOf' in permission ? ' or ' : ' and '
    const told = named.map((one) => `\`${one}\``).join(needs)
    if (takesApiKey) expect(operation.description).toContain(`Permission: ${told}.`)
    else if (access === 'owner')
      expect(operation.description).toMatch(/API keys cannot call it|no API key|Permission: `members:/)
  }))

test('every call that accepts an Idempotency-Key describes the header and the mark of a repeat', () =>
  everyRow(named, (_name, { operation }) => {
    const accepts = acceptsIdempotencyKey(endpointOf.get(operation.operationId)!)
    const [success] = Object.entries(operation.responses).find(([status]) => /^2/.test(status))!
    const header = operation.parameters.find(({ name }) => name === 'Idempotency-Key')
    expect(header !== undefined).toBe(accepts)
    expect('Idempotent-Replay' in (operation.responses[success]?.headers ?? {})).toBe(accepts)
  }))

test('writes an object of several calls once, by its name', () => {
  const uses = [...schemasIn(document.paths)].map(({ $ref }) => $ref)
  for (const name of ['License', 'Client', 'App', 'Pagination']) {
    expect(uses.filter((use) => use === `#/components/schemas/${name}`).length).toBeGreaterThan(2)
    expect(document.components.schemas[name]).toMatchObject({ type: 'object', required: expect.any(Array) })
  }
})

test('every reference resolves', () => {
  const references = [...schemasIn(document)].flatMap((schema) =>
    typeof schema.$ref === 'string' ? [schema.$ref] : [],
  )
  expect(references.length).toBeGreaterThan(0)
  for (const reference of references) {
    const target = reference
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[part], document)
    expect(target).toBeTypeOf('object')
  }
})

test('uses only types of JSON Schema 2020-12', () => {
  const known = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'null']
  const types = [...schemasIn(operations.map(({ operation }) => operation))].flatMap((schema) =>
    typeof schema.type === 'string' ? [schema.type] : [],
  )
  expect(types.length).toBeGreaterThan(100)
  expect(types.filter((type) => !known.includes(type) && type !== 'http')).toEqual([])
})

test('every call that needs a token documents its absence', () => {
  for (const { endpoint } of allEndpoints) {
    if (['owner', 'reseller', 'customer'].includes(endpoint.access)) {
      expect(errorsOf(endpoint)).toContain('unauthorized')
    }
    if (endpoint.access === 'session') expect(errorsOf(endpoint)).toContain('sessionUnauthed')
  }
})

import {
  acceptsIdempotencyKey,
  apiKeyPermissions,
  type Endpoint,
  type ErrorCode,
  endpoints,
  errorFacts,
  isBudgeted,
  limits,
  type Needed,
  permissionsNamed,
} from '@keyward/contract'
import { z } from 'zod'
import { needsPerson } from '../core/actor.ts'
import { version } from '../core/version.ts'
import { type Json, namedSchemas, toSchema } from './openapi-schemas.ts'

/** Every endpoint of the contract with its group. */
export const allEndpoints: readonly { name: string; endpoint: Endpoint }[] = Object.entries(
  endpoints,
).flatMap(([group, calls]) =>
  Object.entries(calls).map(([name, endpoint]) => ({
    name: `${group}.${name}`,
    endpoint: endpoint as Endpoint,
  })),
)

/** Error codes of an endpoint, including those implied by its access, params and body. */
export function errorsOf(endpoint: Endpoint): ErrorCode[] {
  const codes = new Set<ErrorCode>(endpoint.errors ?? [])
  const readsBody = endpoint.method !== 'GET'
  if (readsBody || endpoint.query || endpoint.params) codes.add('invalid_input')
  if (readsBody) for (const code of endpoint.raw ? rawCodes : bodyCodes) codes.add(code)
  if (['owner', 'reseller', 'customer'].includes(endpoint.access)) {
    codes
      .add('unauthorized')
      .add('busy')
      .add(endpoint.job ? 'job_running' : 'too_many_at_once')
  }
  if (endpoint.access === 'owner') codes.add('network_not_allowed').add('vendor_disabled').add('rate_limited')
  if (needsPerson(endpoint)) codes.add('api_key_not_allowed')
  if (endpoint.permission !== undefined && endpoint.permission !== 'self')
    codes.add('permission_missing').add('second_factor_required')
  if (endpoint.confirm || endpoint.also?.some(({ confirm }) => confirm)) codes.add('confirm_identity')
  if (isBudgeted(endpoint)) codes.add('rate_limited')
  if (acceptsIdempotencyKey(endpoint)) for (const code of keyedCodes) codes.add(code)
  if (endpoint.access === 'session') codes.add('sessionUnauthed').add('appDisabled').add('pausedApp')
  if (endpoint.access === 'program' || endpoint.access === 'session') {
    codes.add('invalid_digest').add('invalid_nonce').add('rate_limited').add('appDisabled')
  }
  if (endpoint.access === 'owner' && (endpoint.params || namesAnApp(endpoint))) codes.add('not_found')
  if (!needsNoDatabase(endpoint)) codes.add('database_unavailable')
  if (readsBody) codes.add('storage_full')
  codes.add('internal')
  return [...codes]
}

function errorsByStatus(endpoint: Endpoint): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of errorsOf(endpoint)) {
    const { status } = errorFacts(code)
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return byStatus
}

const needsNoDatabase = ({ path }: Endpoint) => path === '/health' || path === '/config'

const bodyCodes: readonly ErrorCode[] = ['invalid_json', 'payload_too_large', 'unsupported_media_type']

const rawCodes: readonly ErrorCode[] = ['payload_too_large']

const keyedCodes: readonly ErrorCode[] = ['request_running', 'request_interrupted', 'idempotency_key_used']

function namesAnApp(endpoint: Endpoint): boolean {
  const fields = [endpoint.query, endpoint.body].flatMap((schema) =>
    schema instanceof z.ZodObject ? Object.keys(schema.shape) : [],
  )
  return fields.some((field) => field === 'app' || field === 'appId' || field === 'app_id')
}

/** The OpenAPI 3.1 document of the API, generated from the contract. */
export function buildOpenApi(publicUrl?: string): Json {
  const paths: Record<string, Json> = {}
  for (const { name, endpoint } of allEndpoints) {
    const path = `/api${endpoint.path.replace(/:(\w+)/g, '{$1}')}`
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(name, endpoint) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Keyward API',
      version,
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl ?? '/' }],
    paths,
    components: {
      securitySchemes: Object.fromEntries(
        Object.entries(schemes).map(([scheme, description]) => [
          scheme,
          { type: 'http', scheme: 'bearer', description },
        ]),
      ),
      schemas: { Failure: failure, ...namedSchemas() },
      responses: singleFailures(),
    },
  }
}

const description = `Every call answers \`{ "success": true, "data" }\` or a \`Failure\`, whose \`code\` is for programs and whose \`message\` is for people.
An id that does not exist and one that you may not access get the same 404. Ignore fields that you do not know: new ones may be added.`

const schemes = {
  owner: 'Token of a person, from POST /api/auth/login',
  apiKey:
    'An API key (`kwa_…`), which the owner creates in the settings. It makes the calls whose `x-permission` it carries',
  reseller: 'Token of a reseller, from POST /api/resellers/auth/login',
  customer: 'Token of a customer, from POST /api/customer/{appId}/login',
  session: 'Token of a program, from POST /api/client/init; Keyward-App names the app',
}

/** The kinds of tokens that a call accepts. */
function security({ access, permission, personal }: Endpoint): Json[] {
  if (!(access in schemes)) return []
  if (permission === 'api_key') return [{ apiKey: [] }]
  const named = permission === undefined ? [] : permissionsNamed(permission)
  const takesApiKey = !personal && named.length > 0 && named.every((one) => apiKeyPermissions.includes(one))
  return [{ [access]: [] }, ...(takesApiKey ? [{ apiKey: [] }] : [])]
}

const namesOf = (needed: Needed): string =>
  permissionsNamed(needed)
    .map((permission) => `\`${permission}\``)
    .join(typeof needed === 'object' && 'anyOf' in needed ? ' or ' : ' and ')

/** Which people and API keys may make a call, in Markdown. */
export function permissionOf({ permission, personal, deleting, also = [], allApps }: Endpoint): string {
  if (permission === undefined) return ''
  if (permission === 'self') return 'API keys cannot call it.'
  if (permission === 'ownership') return 'Only the owner may call it, no API key.'
  if (permission === 'api_key') return 'Only an API key may call it, about itself.'
  const alone = `Permission: ${namesOf(permission)}.`
  const further = [...(deleting ? [{ when: 'deletion', permission: deleting }] : []), ...also]
  const parts = further.map(
    ({ when, permission: needed, confirm }) =>
      ` It also needs ${namesOf(needed)} for ${when}${confirm ? `, and ${proof}` : ''}.`,
  )
  const which = allApps === 'without app' ? 'Without an app, it' : 'It'
  if (personal) return `${alone} API keys cannot call it.`
  return (
    alone +
    parts.join('') +
    (allApps ? ` ${which} concerns all apps, so callers with some apps get 403.` : '')
  )
}

const failure: Json = {
  type: 'object',
  required: ['success', 'code', 'message'],
  properties: {
    success: { const: false },
    code: { type: 'string' },
    message: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
    requestId: { type: 'string' },
    reference: { type: 'string', description: 'of a refused program: names the refusal in the activity log' },
    details: {
      type: 'object',
      description: 'of a refused program whose password or key was right',
      properties: {
        expiresAt: { type: ['string', 'null'], format: 'date-time' },
        startedAt: { type: ['string', 'null'], format: 'date-time' },
      },
    },
  },
}

const proof = `a proof of identity that is at most ${limits.identityMinutes} minutes old`

/** What a call needs besides a session. */
export const confirmation: Record<NonNullable<Endpoint['confirm']>, string> = {
  always: `Needs ${proof}`,
  with_factor: `Needs ${proof}, on accounts with a second factor`,
}

/** The body limit of an endpoint as readable text. */
export const bodyLimitOf = (endpoint: Endpoint): string =>
  (endpoint.bodyLimit ?? limits.bodyBytesMax).toLocaleString('en-US')

function operation(name: string, endpoint: Endpoint): Json {
  const raw = endpoint.raw && {
    required: true,
    description: `At most ${bodyLimitOf(endpoint)} bytes, as the shop sends them`,
    content: { 'application/json': {}, 'application/x-www-form-urlencoded': {} },
  }
  const body = endpoint.body && {
    required: true,
    description: `At most ${bodyLimitOf(endpoint)} bytes of JSON`,
    content: { 'application/json': { schema: toSchema(endpoint.body, 'input') } },
  }
  const proof = endpoint.confirm && `${confirmation[endpoint.confirm]}.`
  const described = [permissionOf(endpoint), proof].filter(Boolean).join(' ')
  return {
    operationId: name,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(described ? { description: described } : {}),
    parameters: parameters(endpoint),
    ...(body || raw ? { requestBody: body ?? raw } : {}),
    ...(endpoint.permission ? { 'x-permission': endpoint.permission } : {}),
    ...(endpoint.allApps ? { 'x-all-apps': endpoint.allApps } : {}),
    ...(endpoint.also ? { 'x-also': endpoint.also } : {}),
    ...(endpoint.deleting ? { 'x-deleting': endpoint.deleting } : {}),
    ...(endpoint.confirm ? { 'x-confirm': endpoint.confirm } : {}),
    security: security(endpoint),
    responses: responses(endpoint),
  }
}

function parameters(endpoint: Endpoint): Json[] {
  const list = (schema: z.ZodType | undefined, where: 'path' | 'query') => {
    if (!schema) return []
    const { properties = {} } = toSchema(schema, 'output') as { properties?: Record<string, Json> }
    return Object.entries(properties).map(([name, property]) => ({
      name,
      in: where,
      required: where === 'path',
      schema: property,
    }))
  }
  const header = (name: string, required: boolean) => ({
    name,
    in: 'header',
    required,
    schema: { type: 'string' },
  })
  const isProgram = endpoint.access === 'program' || endpoint.access === 'session'
  return [
    ...list(endpoint.params, 'path'),
    ...list(endpoint.query, 'query'),
    ...(endpoint.access === 'session' ? [header('Keyward-App', true)] : []),
    ...(acceptsIdempotencyKey(endpoint) ? [idempotencyKey] : []),
    ...(isProgram ? [header('Keyward-Nonce', false), header('Content-Digest', false)] : []),
  ]
}

function responses(endpoint: Endpoint): Json {
  const success = {
    type: 'object',
    required: ['success', 'data'],
    properties: {
      success: { const: true },
      message: { type: 'string' },
      data: toSchema(endpoint.data, 'output'),
    },
  }
  const failures = [...errorsByStatus(endpoint)].map(([status, codes]) => [status, referTo(status, codes)])
  const file = endpoint.file?.map((type) => [type, { schema: fileSchema(type) }])
  const ok = {
    description: 'Success',
    ...(acceptsIdempotencyKey(endpoint) ? { headers: { 'Idempotent-Replay': replayHeader } } : {}),
    content: file ? Object.fromEntries(file) : { 'application/json': { schema: success } },
  }
  return { [endpoint.status ?? 200]: ok, ...Object.fromEntries(failures) }
}

/** Exports in JSON are lists; other files are text. */
const fileSchema = (type: string): Json =>
  type === 'application/json' ? { type: 'array', items: { type: 'object' } } : { type: 'string' }

const replayHeader: Json = {
  description: 'Sent if an earlier request with this Idempotency-Key made the change',
  schema: { const: 'true' },
}

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: `A value that you make up for each new request, such as a UUID or your order's number. A repeat with the same key and the same input gets the first answer for ${limits.idempotencyHours} hours and changes nothing again`,
  schema: { type: 'string', minLength: 1, maxLength: limits.idempotencyKeyMax },
}

/** An answer with one of these codes, which have this status. */
const failureOf = (status: number, codes: readonly ErrorCode[]): Json => ({
  description: codes.map((code) => `\`${code}\`: ${errorFacts(code).message}`).join('; '),
  ...(status === 429 || status === 503 ? { headers: { 'Retry-After': retryAfterHeader } } : {}),
  content: {
    'application/json': {
      schema: {
        type: 'object',
        allOf: [{ $ref: '#/components/schemas/Failure' }],
        required: ['code'],
        properties: { code: { type: 'string', enum: codes } },
      },
    },
  },
})

/** Failures with a single code are the same in most calls, so they are written once. */
const referTo = (status: number, codes: readonly ErrorCode[]): Json =>
  codes.length === 1 ? { $ref: `#/components/responses/${codes[0]}` } : failureOf(status, codes)

function singleFailures(): Json {
  const all = allEndpoints.flatMap(({ endpoint }) => [...errorsByStatus(endpoint)])
  const single = all.filter(([, codes]) => codes.length === 1)
  return Object.fromEntries(single.map(([status, codes]) => [codes[0], failureOf(status, codes)]))
}

const retryAfterHeader: Json = {
  description: 'Seconds to wait before the next attempt, if the server knows them',
  schema: { type: 'integer', minimum: 1 },
}

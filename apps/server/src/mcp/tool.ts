import { createHash } from 'node:crypto'
import { limits, type Permission } from '@keyward/contract'
import { z } from 'zod'
import type { Calls } from './keyward-api.ts'

/** `write` adds or returns something; `destroy` takes something from a customer. */
export type ToolKind = 'read' | 'write' | 'destroy'

/** What an agent can call. Titles and descriptions are constant: no text of customers gets into them. */
export interface Tool {
  name: string
  title: string
  description: string
  kind: ToolKind
  /** The permissions without which the tool is not listed. */
  needs: readonly Permission[]
  input: z.ZodType
  output: z.ZodType
  /** Returns an answer of the API that `output` picks its fields from. */
  run(api: Calls, input: unknown): Promise<unknown>
}

interface TypedTool<Input extends z.ZodType> extends Omit<Tool, 'input' | 'run'> {
  input: Input
  run(api: Calls, input: z.output<Input>): Promise<unknown>
}

export const tool = <Input extends z.ZodType>(definition: TypedTool<Input>): Tool => definition as Tool

/** The input of a tool: only these fields. */
export const only = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `Only these fields: ${Object.keys(shape).join(', ')}` : undefined,
  })

const exactId = (prefix: string, what: string, source: string) =>
  z
    .string()
    .regex(
      new RegExp(`^${prefix}_[0-9a-f]{32}$`),
      `Must be the exact id of ${what} (${prefix}_ and 32 hex digits), not a name, a key or another kind of id. ${source} returns it.`,
    )
    .describe(`the exact id of ${what}, from ${source}`)

export const licenseId = exactId('lic', 'a license', 'find_license')
export const endUserId = exactId('usr', 'an end user', 'find_end_user')
export const customerId = exactId('cus', 'a customer', 'find_customer')
export const deviceId = exactId('dev', 'a device', 'get_end_user')
export const licenseTypeId = exactId('lty', 'a license type', 'list_license_types')

export const appId = z
  .string()
  .regex(
    /^(app_[0-9a-f]{32}|[0-9A-Z]{8})$/,
    'Must be the id of an app (app_ and 32 hex digits) or its 8-character appId. list_apps returns both.',
  )
  .describe('the id or the appId of an app, from list_apps')

/** The server knows the calendar; this keeps the schema short. */
export const date = z
  .string()
  .max(40)
  .regex(/^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/, 'Must be an ISO 8601 date or date-time')

export const searched = (what: string) =>
  z.string().trim().min(1).max(limits.searchMax).optional().describe(what)

export const paging = {
  page: z.int().min(1).max(10_000).default(1),
  limit: z.int().min(1).max(50).default(10),
}

/** Distinguishes two calls with the same arguments that should both run. */
export const request = z
  .string()
  .regex(/^[\w.:-]{1,64}$/, 'Must be 1 to 64 letters, digits or . _ : -')
  .optional()
  .describe(
    'Names this piece of work, such as an order or ticket number. The same call with the same `request` is done once in 24 hours; send another one to do the same again on purpose.',
  )

/**
 * The Idempotency-Key of work that adds up (new licenses, more days): the same for the same tool and input. An agent that
 * lost an answer repeats its call as it was, often from a new process, so nothing else could recognize the repeat.
 */
export const repeatKey = (name: string, input: unknown): string =>
  `mcp-${createHash('sha256')
    .update(JSON.stringify([name, input]))
    .digest('hex')}`

import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'
import type { Requirement } from './permissions.ts'

/**
 * Who may call. `owner` and `reseller` need the token of such a session; `program` is the vendor's program
 * without a session, `session` the same with one; `public` is anybody.
 */
export type Access = 'public' | 'owner' | 'reseller' | 'program' | 'session'

/** One call of the API, written once: routes, OpenAPI, the console's client and the tests all read it. */
export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Data extends z.ZodType = z.ZodType,
> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path below `/api`, with `:name` for parameters. */
  path: string
  access: Access
  /** What a call with `access: 'owner'` needs; none of the others has it. */
  permission?: Requirement
  summary: string
  /** Group in the reference. */
  tag: string
  params?: Params
  query?: Query
  body?: Body
  /** Most bytes of a body, `limits.bodyBytesMax` when left out; larger ones answer 413 and are not parsed. */
  bodyLimit?: number
  /** What comes is believed by a signature over its bytes, whatever else its sender put in. */
  signed?: true
  /** Long work: an account runs one such call at a time. Another waits up to ten seconds, then answers `job_running`. */
  job?: true
  /** What stands in `data` of a successful answer. */
  data: Data
  /** Media types of a success that is a file or a stream instead of JSON; `data` is then empty. */
  file?: readonly string[]
  /** Status of success; 200 when left out. */
  status?: 200 | 201
  /** Codes beyond those that follow from access, params and body. */
  errors?: readonly ErrorCode[]
}

export function endpoint<
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Data extends z.ZodType = z.ZodType,
>(definition: Endpoint<Params, Query, Body, Data>): Endpoint<Params, Query, Body, Data> {
  return definition
}

export type ParamsOf<E> = E extends Endpoint<infer P, z.ZodType, z.ZodType, z.ZodType> ? z.output<P> : never
export type QueryOf<E> = E extends Endpoint<z.ZodType, infer Q, z.ZodType, z.ZodType> ? z.output<Q> : never
export type QueryInputOf<E> =
  E extends Endpoint<z.ZodType, infer Q, z.ZodType, z.ZodType> ? z.input<Q> : never
export type BodyOf<E> = E extends Endpoint<z.ZodType, z.ZodType, infer B, z.ZodType> ? z.output<B> : never
export type BodyInputOf<E> = E extends Endpoint<z.ZodType, z.ZodType, infer B, z.ZodType> ? z.input<B> : never
export type DataOf<E> = E extends Endpoint<z.ZodType, z.ZodType, z.ZodType, infer D> ? z.output<D> : never

import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'
import type { Needed, Permission } from './permissions.ts'

/**
 * Who may call. `owner`, `reseller` and `customer` require the token of such a session; `program` is the vendor's program
 * without a session, `session` a program with one; `public` is anyone.
 */
export type Access = 'public' | 'owner' | 'reseller' | 'customer' | 'program' | 'session'

export interface FurtherNeed {
  /** What needs it, after 'for': 'a new `secret`'. */
  when: string
  /** A body with one of these fields needs it. Without fields, the service finds out whether a call does. */
  fields?: readonly string[]
  permission: readonly Permission[]
  /** Like `confirm` of the call. */
  confirm?: 'always'
}

/** A call of the API. Routes, OpenAPI, the console's client and the tests are generated from it. */
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
  /** What a call with `access: 'owner'` requires; other calls have none. */
  permission?: Needed
  /** What it requires besides `permission` for a part of what it does. */
  also?: readonly FurtherNeed[]
  /** It concerns the signed-in person alone, so that no API key may call it, whatever it carries. */
  personal?: true
  /**
   * It concerns all apps of the owner: members and API keys with some apps may not call it, or not without naming an app
   * in its query.
   */
  allApps?: true | 'without app'
  /** The field of its query that names an app. */
  appField?: 'app'
  /** What deleting requires besides `permission`. */
  deleting?: readonly Permission[]
  /** The field of its body that says what a bulk call does: only `delete` deletes. Without it, every call does. */
  actionField?: 'action'
  /**
   * Needs a proof of identity that is at most `limits.identityMinutes` old, from everyone or only from accounts with a
   * second factor; else 403 `confirm_identity`. API keys are never asked.
   */
  confirm?: 'always' | 'with_factor'
  summary: string
  /** Group in the API reference. */
  tag: string
  params?: Params
  query?: Query
  body?: Body
  /** Maximum bytes of a body, `limits.bodyBytesMax` by default. Larger bodies get 413 and are not parsed. */
  bodyLimit?: number
  /** Maximum values in a body, `limits.bodyValuesMax` by default: texts, numbers, lists, objects. */
  valuesMax?: number
  /** The body has any media type and is not parsed: the handler reads its bytes, once it has checked their signature. */
  raw?: true
  /** Its bytes are not read before the handler, which takes them as they arrive. */
  streamed?: true
  /**
   * Why it is carried out also when its account has used up its write budget, as no other call of an owner or a reseller is
   * that changes something: ending sessions and leaving must always be possible, and a payment takes no part of it.
   */
  unbudgeted?: 'own account' | 'payment'
  /** With `dryRun` in its body it changes nothing, and leaves its Idempotency-Key free. */
  dryRun?: true
  /** Long work: an account runs one such call at a time. Further calls wait up to ten seconds, then get `job_running`. */
  job?: true
  /** Hashes a password for strangers too: refused before it is read if it could only wait in place of another of its network. */
  hashes?: true
  /** The `data` of a successful response. */
  data: Data
  /** Media types of a successful response that is a file or a stream instead of JSON; `data` is then empty. */
  file?: readonly string[]
  /** Status of a successful response; 200 by default. */
  status?: 200 | 201
  /** Error codes besides those that follow from access, params and body. */
  errors?: readonly ErrorCode[]
}

/* @__NO_SIDE_EFFECTS__ */
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

/** Whether a call is refused once its account has used up its write budget. */
export const isBudgeted = ({ access, method, unbudgeted }: Endpoint): boolean =>
  (access === 'owner' || access === 'reseller') && method !== 'GET' && unbudgeted === undefined

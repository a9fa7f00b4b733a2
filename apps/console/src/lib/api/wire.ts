import table from 'virtual:wire'
import type { AnyOf, Endpoint, endpoints, Permission, Requirement } from '@keyward/contract'

/** The part of an endpoint that a call needs at run time, with the endpoint's types. */
export type Wire<E extends Endpoint = Endpoint> = Pick<E, 'path'> & {
  /** GET by default. */
  method?: E['method']
  /** `owner` by default. */
  access?: E['access']
  hasBody?: true
  /** What a person needs besides a session of its own. */
  permission?: Exclude<Requirement, 'self'> | readonly Permission[] | AnyOf
  /** What parts of it need besides. */
  also?: readonly (readonly Permission[])[]
  allApps?: E['allApps']
  deleting?: E['deleting']
  /** Never set; carries the types. */
  readonly endpoint?: E
}

type Called = Omit<typeof endpoints, 'program' | 'payments' | 'system' | 'customerPage'> & {
  program: Pick<(typeof endpoints)['program'], 'keys'>
  payments: Omit<(typeof endpoints)['payments'], 'webhook'>
}

type Table = {
  [Noun in keyof Called]: {
    [Name in keyof Called[Noun]]: Called[Noun][Name] extends infer E extends Endpoint ? Wire<E> : never
  }
}

/** All endpoints that the console calls, by noun. Forms import their schemas from `@keyward/contract`. */
export const wire = table as Table

import table from 'virtual:wire'
import type { Endpoint, endpoints } from '@keyward/contract'

/** What a call needs of an endpoint at run time, with the endpoint's types. */
export type Wire<E extends Endpoint = Endpoint> = Pick<E, 'path'> & {
  /** GET when left out. */
  method?: E['method']
  /** An owner when left out. */
  access?: E['access']
  hasBody?: true
  /** Never there: carries the types. */
  readonly endpoint?: E
}

type Called = Omit<typeof endpoints, 'program' | 'payments' | 'system'> & {
  program: Pick<(typeof endpoints)['program'], 'keys'>
  payments: Omit<(typeof endpoints)['payments'], 'webhook'>
}

type Table = {
  [Noun in keyof Called]: {
    [Name in keyof Called[Noun]]: Called[Noun][Name] extends infer E extends Endpoint ? Wire<E> : never
  }
}

/** Every call of the console by noun, for `call()`. Forms take their schemas from `@keyward/contract` itself. */
export const wire = table as Table

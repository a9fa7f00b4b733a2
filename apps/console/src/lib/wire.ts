import table from 'virtual:wire'
import type { Endpoint, endpoints } from '@keyward/contract'

/** What a call needs of an endpoint at run time, with the endpoint's types. */
export type Wire<E extends Endpoint = Endpoint> = Pick<E, 'method' | 'path' | 'access'> & {
  hasBody: boolean
  /** Never there: carries the types. */
  readonly endpoint?: E
}

type Table = {
  [Noun in keyof typeof endpoints]: {
    [Name in keyof (typeof endpoints)[Noun]]: (typeof endpoints)[Noun][Name] extends infer E extends Endpoint
      ? Wire<E>
      : never
  }
}

/** Every call of the API by noun, for `call()`. Forms take their schemas from `@keyward/contract` itself. */
export const wire = table as Table

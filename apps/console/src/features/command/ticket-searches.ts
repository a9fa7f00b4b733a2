import type { Customer, ListedLicense, ShopOrder } from '@keyward/contract'
import { useQueries } from '@tanstack/react-query'
import { call, hasCode } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { type Wire, wire } from '../../lib/api/wire.ts'
import type { Ticket } from './ticket.ts'

/** What the lists know of one value of a mail. */
interface Hits {
  customers?: Customer[]
  licenses?: ListedLicense[]
  orders?: ShopOrder[]
  /** Whether the server knows the reference. */
  isKnown?: boolean
}

interface Kind {
  label: string
  call: Wire
  find: (value: string, signal: AbortSignal) => Promise<Hits>
}

const limit = 3
const searchesMost = 5

const kinds = {
  reference: {
    label: 'Reference',
    call: wire.activity.explain,
    async find(reference, signal) {
      try {
        await call(wire.activity.explain, { params: { reference }, signal })
        return { isKnown: true }
      } catch (error) {
        if (hasCode(error, 'not_found')) return { isKnown: false }
        throw error
      }
    },
  },
  key: {
    label: 'License',
    call: wire.licenses.list,
    find: (search, signal) => call(wire.licenses.list, { query: { search, limit }, signal }),
  },
  address: {
    label: 'Customer',
    call: wire.customers.list,
    find: (search, signal) => call(wire.customers.list, { query: { search, limit }, signal }),
  },
  order: {
    label: 'Order',
    call: wire.orders.list,
    find: (search, signal) => call(wire.orders.list, { query: { search, limit }, signal }),
  },
} satisfies Record<string, Kind>

/** What a mail names first of each kind comes first, and no mail makes more than a few searches. */
function searchesFor({ references, keys: named, addresses, orders }: Ticket) {
  const ofKind = (kind: keyof typeof kinds, values: string[]) => values.map((value) => ({ kind, value }))
  const lists = [
    ofKind('reference', references),
    ofKind('key', named),
    ofKind('address', addresses),
    ofKind('order', orders),
  ]
  const most = Math.max(...lists.map(({ length }) => length))
  return Array.from({ length: most }, (_, at) => lists.flatMap((list) => list[at] ?? [])).flat()
}

/** Searches the lists for what a mail names, which is all that the server hears of it. */
export function useTicketSearches(ticket: Ticket) {
  const may = useMay()
  const searches = searchesFor(ticket)
    .filter(({ kind }) => may(kinds[kind].call))
    .slice(0, searchesMost)
  const results = useQueries({
    queries: searches.map(({ kind, value }) => ({
      queryKey: [...keysOf[kind], 'named', value],
      queryFn: ({ signal }: { signal: AbortSignal }): Promise<Hits> => kinds[kind].find(value, signal),
      staleTime: 5_000,
    })),
  })
  return searches.map(({ kind, value }, at) => ({
    kind,
    value,
    label: kinds[kind].label,
    query: results[at]!,
  }))
}

const keysOf = { reference: keys.activity, key: keys.licenses, address: keys.customers, order: keys.orders }

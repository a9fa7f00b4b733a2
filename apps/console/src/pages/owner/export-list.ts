import type { Endpoint } from '@keyward/contract'
import type { Wire } from '../../lib/api/wire.ts'
import { saveExport } from '../../ui/save-export.ts'

export interface ListExport {
  endpoint: Wire<Endpoint>
  filters: Record<string, string | undefined>
  format: 'csv' | 'json'
  /** Plural: 'licenses'. */
  noun: string
  pagination: { total: number; capped?: boolean | undefined } | undefined
}

/** Exports all rows that match the filters of a list. */
export async function exportList({ endpoint, filters, format, noun, pagination }: ListExport) {
  const total = pagination?.capped ? undefined : pagination?.total
  await saveExport({ endpoint, query: { ...filters, format }, noun, total })
}

import type { Flag } from './flag.ts'

export interface CountTables {
  license_counts: LicenseCountsTable
  license_blocks: LicenseBlocksTable
  license_places: LicensePlacesTable
  client_counts: ClientCountsTable
  client_blocks: ClientBlocksTable
  client_places: ClientPlacesTable
  daily_counts: DailyCountsTable
}

interface LicenseCountsTable {
  app_id: string
  owner_id: string
  bucket: number
  used: Flag
  banned: Flag
  n: number
}

/** A block covers 256 buckets, a place 16,384 rows in the order of their creation. */
type LicenseBlocksTable = Omit<LicenseCountsTable, 'bucket'> & { block: number }

type LicensePlacesTable = LicenseBlocksTable & { place: number }

interface ClientCountsTable {
  app_id: string
  owner_id: string
  bucket: number
  banned: Flag
  n: number
}

type ClientBlocksTable = Omit<ClientCountsTable, 'bucket'> & { block: number }

type ClientPlacesTable = ClientBlocksTable & { place: number }

export type DailyMetric = 'licenses' | 'clients' | 'activations' | 'sign_ins' | 'refusals'

interface DailyCountsTable {
  app_id: string
  owner_id: string
  day: number
  metric: DailyMetric
  n: number
}

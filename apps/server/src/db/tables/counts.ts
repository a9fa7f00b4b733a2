import type { Flag } from './flag.ts'

export interface CountTables {
  license_counts: LicenseCountsTable
  license_blocks: LicenseBlocksTable
  license_places: PlacesTable
  client_counts: ClientCountsTable
  client_blocks: ClientBlocksTable
  client_places: PlacesTable
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

/** A block covers 256 buckets. */
type LicenseBlocksTable = Omit<LicenseCountsTable, 'bucket'> & { block: number }

interface ClientCountsTable {
  app_id: string
  owner_id: string
  bucket: number
  banned: Flag
  n: number
}

type ClientBlocksTable = Omit<ClientCountsTable, 'bucket'> & { block: number }

/** A place covers 16,384 numbers of rows. */
interface PlacesTable {
  app_id: string
  place: number
  n: number
}

export type DailyMetric = 'licenses' | 'clients' | 'activations' | 'sign_ins' | 'refusals'

interface DailyCountsTable {
  app_id: string
  owner_id: string
  day: number
  metric: DailyMetric
  n: number
}

import type { Artifact, Release, SecurityFix } from '@keyward/contract'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import type { ReleaseRow } from '../../db/tables.ts'

export const toRelease = (row: Omit<ReleaseRow, 'seq'>): Release => ({
  _id: row.id,
  version: row.version,
  releasedAt: toIso(row.released_at),
  link: row.link,
  channel: row.channel,
  notes: row.notes,
  updatesFrom: row.updates_from,
  build: row.build,
  security: toSecurity(row.security),
  withdrawnAt: toIsoOrNull(row.withdrawn_at),
  artifacts: toArtifacts(row.artifacts),
  createdAt: toIso(row.created_at),
})

export const toSecurity = (json: string | null): SecurityFix | null =>
  json === null ? null : (JSON.parse(json) as SecurityFix)

export const toArtifacts = (json: string): Artifact[] => JSON.parse(json) as Artifact[]

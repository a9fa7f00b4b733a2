import type { Artifact, BodyOf, endpoints, Release, SecurityFix } from '@keyward/contract'
import { toEpochMs, toIso, toIsoOrNull } from '../../core/clock.ts'
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

type Update = Omit<BodyOf<(typeof endpoints)['releases']['update']>, 'seen'>

/** The columns of the fields that are sent. */
export function toColumns({ version, releasedAt, link, channel, notes, build, ...sent }: Update) {
  const columns = {
    ...{ version, link, channel, notes, build, updates_from: sent.updatesFrom },
    released_at: releasedAt && toEpochMs(releasedAt),
    security: sent.security && JSON.stringify(sent.security),
    artifacts: sent.artifacts && JSON.stringify(sent.artifacts),
  }
  return Object.fromEntries(
    Object.entries(columns).filter(([, value]) => value !== undefined),
  ) as Partial<ReleaseRow>
}

export const bytesOf = ({ security, notes, artifacts }: Stored): number =>
  Buffer.byteLength(`${security ?? ''}${notes ?? ''}${artifacts}`)
type Stored = Pick<ReleaseRow, 'security' | 'notes' | 'artifacts'>

/** What a change says in the audit log. */
export function changeOf(before: ReleaseRow, after: ReleaseRow) {
  const [was, is] = [toDetail(before), toDetail(after)]
  const names = Object.keys(is).filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]))
  const pick = (detail: Record<string, unknown>) =>
    Object.fromEntries(names.map((name) => [name, detail[name]]))
  return { before: pick(was), after: pick(is) }
}

const toDetail = (row: ReleaseRow): Record<string, unknown> => {
  const { _id, createdAt, withdrawnAt, ...release } = toRelease(row)
  return { ...release, releasedAt: row.released_at }
}

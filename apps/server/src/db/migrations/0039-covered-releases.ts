import type { Migration } from '../migrate.ts'

/** Finds the last version that a license covers. */
export const coveredReleases: Migration = {
  name: '0039-covered-releases',
  statements: () => ['create index releases_covered on releases (app_id, released_at, seq, version)'],
}

// ADR 2: several nodes share one PostgreSQL, whose operator sees which connection is whose.
import { hostname } from 'node:os'
import { version } from '../../core/version.ts'

/** PostgreSQL shows this many bytes. */
const bytesMax = 63

/** The name of connections in `pg_stat_activity`, unless DATABASE_URL or PGAPPNAME gives another one. */
export const connectionName = {
  fallback_application_name: `keyward ${version} ${hostname()}`.replace(/[^ -~]/g, '?').slice(0, bytesMax),
}

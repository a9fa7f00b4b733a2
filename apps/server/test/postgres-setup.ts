import type { TestProject } from 'vitest/node'
import { makeMigratedDatabase } from './migrated.ts'
import { startCluster } from './postgres-cluster.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
    /** The name of a migrated, empty database that tests copy. */
    postgresTemplate: string
  }
}

/** Starts one cluster per run; every test file creates its own databases on it, as copies of one migrated database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster()
  project.provide('postgresUrl', cluster.url)
  project.provide('postgresTemplate', await makeMigratedDatabase(cluster.url))
  return () => cluster.stop()
}

import type { TestProject } from 'vitest/node'
import { startCluster } from './postgres-cluster.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
  }
}

/** One cluster for the run; every test file makes a database of its own on it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster()
  project.provide('postgresUrl', cluster.url)
  return () => cluster.stop()
}

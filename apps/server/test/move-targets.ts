import pg from 'pg'
import { type Cluster, startCluster } from './postgres-cluster.ts'

/** Empty databases that a test moves to. */
export interface MoveTargets {
  urlOf(name: string): string
  ask<Row extends object>(name: string, text: string): Promise<Row[]>
  stop(): Promise<void>
}

export async function createTargets(names: readonly string[]): Promise<MoveTargets> {
  const cluster: Cluster = await startCluster()
  const admin = new pg.Client({ connectionString: cluster.url })
  await admin.connect()
  const dropAll = async () => {
    for (const name of names) await admin.query(`drop database if exists ${name} with (force)`)
  }
  await dropAll()
  for (const name of names) await admin.query(`create database ${name} template template0`)
  const urlOf = (name: string) => Object.assign(new URL(cluster.url), { pathname: name }).href
  return {
    urlOf,
    ask: async (name, text) => {
      const client = new pg.Client({ connectionString: urlOf(name) })
      await client.connect()
      const { rows } = await client.query(text)
      await client.end()
      return rows
    },
    stop: async () => {
      await dropAll()
      await admin.end()
      await cluster.stop()
    },
  }
}

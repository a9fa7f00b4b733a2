import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { expect } from 'vitest'
import { rowsOf, tablesOf } from './every-table.ts'
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

/** Compares every row of an embedded database with those in a target, and the tables of the report. */
export async function expectSameRows(
  { ask }: MoveTargets,
  database: string,
  path: string,
  reported: readonly { name: string; rows: number }[],
): Promise<void> {
  const source = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = new Map(tablesOf(source).map((table) => [table, rowsOf(source, table)]))
    expect(new Map(reported.map((table) => [table.name, table.rows]))).toEqual(
      new Map([...rows].map(([table, expected]) => [table, expected.length])),
    )
    for (const [table, expected] of rows) {
      expect(expected.length, table).toBeGreaterThan(0)
      const there = await ask<{ row: { name?: string } }>(
        database,
        `select to_json(t) as row from "${table}" t`,
      )
      const moved = there.map(({ row }) => row).filter((row) => table !== 'meta' || row.name !== 'moved')
      expect(new Set(moved.map(canonical)), table).toEqual(new Set(expected.map(canonical)))
      expect(moved.length, table).toBe(expected.length)
    }
  } finally {
    source.close()
  }
}

const canonical = (row: object): string =>
  JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))

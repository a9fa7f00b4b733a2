import { sql } from 'kysely'
import type { Migration } from '../migrate.ts'

/**
 * What `POST /licenses/import` has decided to create is an import like others, whose rows have the values of the columns in
 * `mapping`. What an earlier version left unfinished goes on.
 */
export const calledImports: Migration = {
  name: '0098-called-imports',
  statements: () => [
    `insert into data_imports (id, owner_id, app_id, actor_kind, actor_id, session_id, address, preset, mapping, state,
      dry_run, is_read, row_count, created, skipped, claimed_until, kept_until, created_at)
      select id, owner_id, app_id, actor_kind, actor_id, session_id, address, 'call', column_names, 'running', 0, 1, count,
      count - (select coalesce(sum(n), 0) from import_chunks c where c.import_id = i.id),
      (select count(*) from import_skips s where s.import_id = i.id), 0, created_at + 86400000, created_at
      from imports i order by created_at, id`,
    `insert into data_import_rows (import_id, app_id, n, unit, file, line, kind, name, outcome, message)
      select s.import_id, i.app_id, -row_number() over (partition by s.import_id order by s.key), 0, '', 0, 'license',
      s.key, 'skipped', s.message from import_skips s join imports i on i.id = s.import_id`,
  ],
  convert: async (tx) => {
    const chunks = await sql<{ id: string; app_id: string; column_names: string; content: string }>`
      select i.id, i.app_id, i.column_names, c.content from import_chunks c join imports i on i.id = c.import_id
      order by i.id, c.part`.execute(tx)
    const counts = new Map<string, number>()
    for (const { id, app_id, column_names, content } of chunks.rows) {
      const key = (JSON.parse(column_names) as string[]).indexOf('key')
      for (const values of JSON.parse(content) as unknown[][]) {
        const n = (counts.get(id) ?? 0) + 1
        counts.set(id, n)
        await sql`insert into data_import_rows (import_id, app_id, n, unit, file, line, kind, name, content) values
          (${id}, ${app_id}, ${n}, ${n}, '', 0, 'license', ${values[key]}, ${JSON.stringify(values)})`.execute(
          tx,
        )
      }
    }
    for (const table of ['import_skips', 'import_chunks', 'imports'])
      await sql.raw(`drop table ${table}`).execute(tx)
  },
}

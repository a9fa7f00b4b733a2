import type { Migration } from '../migrate.ts'

const bucket = '(new.expires_at + 3599999) / 3600000'

/** On SQLite, a commit adds many new licenses to the full-text index at once (`db/lists/search-merges.ts`), and no longer each insert one. */
export const newLicensesInSearch: Migration = {
  name: '0102-new-licenses-in-search',
  statements: (dialect) =>
    dialect === 'postgres'
      ? []
      : [
          'drop trigger licenses_added',
          `create trigger licenses_added after insert on licenses begin
            insert into license_counts (app_id, owner_id, bucket, used, banned, n)
              values (new.app_id, new.owner_id, ${bucket}, new.used, new.banned, 1)
              on conflict (app_id, bucket, used, banned) do update set n = n + 1;
            insert into daily_counts (app_id, owner_id, day, metric, n)
              values (new.app_id, new.owner_id, new.created_at / 86400000, 'licenses', 1)
              on conflict (app_id, metric, day) do update set n = n + 1;
            update apps set license_count = license_count + 1 where id = new.app_id;
            update resellers set license_count = license_count + 1 where id = new.reseller_id;
          end`,
          'drop trigger licenses_noted',
          // The index holds all numbers up to its last one: one that it does not have yet must not become the last.
          `create trigger licenses_noted after update of note on licenses
            when exists (select 1 from license_search_docsize where id = old.seq) begin
            delete from license_search where rowid = old.seq;
            insert into license_search (rowid, body) values (new.seq, new.key_normalized || ' ' || coalesce(new.note, ''));
          end`,
        ],
}

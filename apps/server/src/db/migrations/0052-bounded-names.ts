import type { Migration } from '../migrate.ts'

/** So many characters of device names are found, those of about 500 computers; an end user may have 1,000 devices. */
const indexedMost = 8_000

const names = `(select ' ' || substr(group_concat(n.name, ' '), 1, ${indexedMost}) from (
  select d.name as name from devices d where d.client_id = c.id and d.name is not null
  order by d.first_seen_at desc, d.id desc limit ${indexedMost}) n)`

const indexAgain = `begin
  delete from client_search where rowid = (select seq from clients where id = new.client_id);
  insert into client_search (rowid, body)
    select c.seq, c.username_normalized || coalesce(' ' || c.email, '') || coalesce(${names}, '')
    from clients c where c.id = new.client_id;
end`

/**
 * Bounds what a device writes to the full-text index: without a bound, each of many long names wrote all others again.
 * A freed device writes nothing, because a search compares what the index finds with the devices that there are.
 */
export const boundedNames: Migration = {
  name: '0052-bounded-names',
  statements: (dialect) =>
    dialect === 'postgres'
      ? []
      : [
          'drop trigger devices_added',
          'drop trigger devices_renamed',
          'drop trigger devices_removed',
          `create trigger devices_added after insert on devices when new.name is not null ${indexAgain}`,
          `create trigger devices_renamed after update of name on devices when old.name is not new.name ${indexAgain}`,
        ],
}

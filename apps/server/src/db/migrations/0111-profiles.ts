import type { Migration } from '../migrate.ts'

/** What customers see of a vendor or of one of its apps; `id` is the id of the one that it is of. */
export const profiles: Migration = {
  name: '0111-profiles',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table profiles (
        id ${t} primary key,
        owner_id ${t} not null references owners (id) on delete cascade,
        app_id ${t} references apps (id) on delete cascade,
        name text,
        support text,
        logo text,
        logo_type text,
        logo_digest ${t}
      )`,
      'create index profiles_owner on profiles (owner_id)',
      'create index profiles_app on profiles (app_id)',
    ]
  },
}

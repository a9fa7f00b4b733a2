import type { Migration } from '../migrate.ts'

/** Names of end users are no longer compared by their looks: `user1` may stand beside `userl`. */
export const namesAlike: Migration = {
  name: '0099-names-alike',
  statements: () => [
    'drop index clients_name_skeleton',
    'drop index clients_name_pending',
    'alter table clients drop column name_skeleton',
  ],
}

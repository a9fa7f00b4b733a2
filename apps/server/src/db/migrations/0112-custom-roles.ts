import type { Migration } from '../migrate.ts'

/** JSON: what a member with the role `custom` may do; null for the other roles. */
export const customRoles: Migration = {
  name: '0112-custom-roles',
  statements: () => ['alter table members add column permissions text'],
}

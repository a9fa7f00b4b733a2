import type { Migration } from '../migrate.ts'

export const resellerNotes: Migration = {
  name: '0118-reseller-notes',
  statements: () => ['alter table licenses add column reseller_note text'],
}

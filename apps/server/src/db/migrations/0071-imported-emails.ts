import type { Migration } from '../migrate.ts'

/** An erasure finds the hashed address of imported end users. */
export const importedEmails: Migration = {
  name: '0071-imported-emails',
  statements: () => ['create index imported_users_email on imported_users (email_sha1)'],
}

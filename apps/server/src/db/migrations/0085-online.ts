import type { Migration } from '../migrate.ts'

/** Finds the sessions of an app that were used lately, to count who is online. */
export const online: Migration = {
  name: '0085-online',
  statements: () => [
    'drop index client_sessions_app',
    'create index client_sessions_app on client_sessions (app_id, expires_at)',
  ],
}

// Only an embedded database is backed up by the server; PostgreSQL has tools of its own.
export { backUp } from './sqlite/backup/backup.ts'
export { restore } from './sqlite/backup/restore.ts'

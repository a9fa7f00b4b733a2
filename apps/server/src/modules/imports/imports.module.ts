import type { Module } from '../module.ts'
import { expireImportFiles, forgetImportedEmail, forgetImportedUser } from './imports.access.ts'
import { filePartContext, loseKey } from './imports.files.ts'
import { importsRoutes } from './imports.routes.ts'
import { ImportRunner, tidyImports } from './imports.runner.ts'

export const imports: Module = {
  tables: {
    data_imports: {},
    data_import_files: {},
    data_import_parts: {
      key: ['file_id', 'part'],
      isOfApp: true,
      atOnce: 5,
      sealed: { sealed: (file, { part }) => filePartContext(file, Number(part)) },
    },
    data_import_rows: { key: ['import_id', 'n'], isOfApp: true },
    imported_users: {},
  },
  loseKey,
  tidy: tidyImports,
  erasure: {
    endUser: ({ tx }, _actor, id) => forgetImportedUser(tx, id),
    last: async ({ tx }, actor, { email }) => {
      await expireImportFiles(tx, actor)
      await forgetImportedEmail(tx, actor, email)
    },
  },
  // It needs a right to write, which no reader of events has to have.
  objects: { import: null },
  parts: ({ ctx, onError, options: { importsEveryMs: pollMs, runsImports: runs } }) => ({
    imports: new ImportRunner(ctx, { onError, pollMs, runs }),
  }),
  routes: importsRoutes,
  work: async ({ imports }) => {
    await imports.start()
    return () => imports.end()
  },
}

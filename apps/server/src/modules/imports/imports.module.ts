import type { Module } from '../module.ts'
import { importsRoutes } from './imports.routes.ts'
import { ImportRunner } from './imports.runner.ts'

export const imports: Module = {
  parts: ({ ctx, onError, options: { importsEveryMs: pollMs, runsImports: runs } }) => ({
    imports: new ImportRunner(ctx, { onError, pollMs, runs }),
  }),
  routes: importsRoutes,
  work: async ({ imports }) => {
    await imports.start()
    return () => imports.end()
  },
}

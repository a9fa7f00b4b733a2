import { endpoints, importReportExport } from '@keyward/contract'
import { WithMessage } from '../../core/answers.ts'
import type { Mount } from '../../http/mount.ts'
import { toFile } from '../bulk/export.file.ts'
import type { Parts } from '../module.ts'
import { importLicenses } from './imports.call.ts'
import * as service from './imports.service.ts'

export function importsRoutes(mount: Mount, { ctx, imports: runner }: Parts): void {
  const { bulk, imports } = endpoints
  mount(imports.create, 'owner', async ({ actor, body }) => ({
    import: await service.createImport(ctx, actor, body),
  }))
  mount(imports.putFile, 'owner', async ({ actor, params, sent }) => ({
    import: await service.putFile(ctx, actor, params, sent.stream),
  }))
  mount(imports.run, 'owner', async ({ actor, params, body }) => {
    const started = await service.runImport(ctx, actor, params.id, body)
    runner.wake()
    return { import: started }
  })
  mount(imports.get, 'owner', ({ actor, params, query }) => service.showImport(ctx, actor, params.id, query))
  mount(imports.report, 'owner', async ({ actor, params }) => {
    const slices = await service.reportOf(ctx, actor, params.id)
    const file = { name: 'import', format: 'csv', columns: importReportExport } as const
    return toFile(slices, { ...file, now: ctx.clock.now() })
  })
  mount(imports.list, 'owner', async ({ actor, query }) => ({
    imports: await service.listImports(ctx, actor, query.app),
  }))
  mount(imports.undo, 'owner', async ({ actor, params }) => {
    const started = await service.undoImport(ctx, actor, params.id)
    runner.wake()
    return { import: started }
  })
  mount(bulk.importLicenses, 'owner', async ({ actor, body }) => {
    const result = await importLicenses(ctx, runner, actor, body)
    if (result.dryRun) return result
    return new WithMessage(result, `${result.created} license(s) imported, ${result.skipped} skipped.`)
  })
}

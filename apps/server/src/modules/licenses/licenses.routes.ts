import { endpoints } from '@keyward/contract'
import { WithMessage } from '../../core/answers.ts'
import { problem } from '../../core/problem.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { toggleBan, updateLicense } from './licenses.change.ts'
import { mailKey } from './licenses.mail.ts'
import * as service from './licenses.service.ts'

export function licensesRoutes(mount: Mount, parts: Parts): void {
  const { ctx } = parts
  const { licenses } = endpoints
  mount(licenses.list, 'owner', ({ actor, query }) => service.listLicenses(ctx, actor, query))
  mount(licenses.ids, 'owner', ({ actor, query }) => service.matchLicenses(ctx, actor, query))
  mount(licenses.get, 'owner', async ({ actor, params }) => ({
    license: await service.getLicenseWithGrants(ctx, actor, params.id),
  }))
  mount(licenses.create, 'owner', async ({ actor, body }) => {
    const made = await service.createLicenses(ctx, actor, body)
    const [license] = made
    if (!license) throw problem('internal')
    return new WithMessage({ license, licenses: made }, `Successfully generated ${made.length} license(s).`)
  })
  mount(licenses.update, 'owner', ({ actor, params, body }) => updateLicense(ctx, actor, params.id, body))
  mount(licenses.toggleBan, 'owner', async ({ actor, params, body }) => ({
    license: await toggleBan(ctx, actor, params.id, body),
  }))
  mount(licenses.mail, 'owner', async ({ actor, params }) => ({
    license: await mailKey(parts, actor, params.id),
  }))
  mount(licenses.remove, 'owner', async ({ actor, params }) => {
    await service.deleteLicense(ctx, actor, params.id)
    return {}
  })
  mount(licenses.removeAll, 'owner', async ({ actor, query }) => ({
    deletedCount: await service.deleteAllLicenses(ctx, actor, query.app),
  }))
}

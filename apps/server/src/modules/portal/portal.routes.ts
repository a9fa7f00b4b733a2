import { endpoints, portalLicenseExport } from '@keyward/contract'
import { WithMessage } from '../../core/answers.ts'
import type { Mount } from '../../http/mount.ts'
import { toFile } from '../bulk/export.file.ts'
import { listResellableTypes } from '../license-types/license-types.service.ts'
import type { Parts } from '../module.ts'
import * as licenses from './portal.licenses.ts'
import * as reset from './portal.reset.ts'
import * as service from './portal.service.ts'

export function portalRoutes(mount: Mount, parts: Parts): void {
  const { ctx, attempts, resets } = parts
  const { portal } = endpoints
  mount(portal.login, 'public', async ({ body, address }) => {
    const session = await service.login(ctx, attempts, { ...body, address })
    return 'token' in session ? new WithMessage(session, 'Welcome to your reseller portal!') : session
  })
  mount(portal.forgotPassword, 'public', async ({ body, address }) => {
    await resets.request('reseller', { ...body, address })
    return {}
  })
  mount(portal.resetPassword, 'public', ({ body, address }) =>
    reset.resetPassword(ctx, resets, { ...body, address }),
  )
  mount(portal.logout, 'reseller', async ({ actor }) => {
    await service.logout(ctx, actor)
    return new WithMessage({}, 'Logged out successfully')
  })
  mount(portal.profile, 'reseller', async ({ actor }) => ({ reseller: await service.getProfile(ctx, actor) }))
  mount(portal.vendor, 'reseller', ({ actor }) => service.getVendor(ctx, actor))
  mount(portal.listLicenses, 'reseller', ({ actor, query }) => licenses.listLicenses(ctx, actor, query))
  mount(portal.getLicense, 'reseller', ({ actor, params }) => licenses.getLicense(parts, actor, params.id))
  mount(portal.updateLicense, 'reseller', ({ actor, params, body }) =>
    licenses.updateLicense(ctx, actor, params.id, body),
  )
  mount(portal.exportLicenses, 'reseller', async ({ actor, query: { format, search } }) => {
    const slices = await licenses.exportLicenses(ctx, actor, search)
    return toFile(slices, { name: 'licenses', format, columns: portalLicenseExport, now: ctx.clock.now() })
  })
  mount(portal.listLicenseTypes, 'reseller', async ({ actor }) => ({
    licenseTypes: await listResellableTypes(ctx, actor),
  }))
  mount(portal.createLicenses, 'reseller', async ({ actor, body }) => {
    const made = await licenses.createLicenses(ctx, actor, body)
    return new WithMessage(made, `${made.licenses.length} license(s) created successfully`)
  })
  mount(portal.removeLicenses, 'reseller', async ({ actor }) => {
    const deletedCount = await licenses.deleteLicenses(ctx, actor)
    return new WithMessage({ deletedCount }, `Successfully deleted ${deletedCount} license(s)`)
  })
}

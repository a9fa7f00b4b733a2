import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import type { Calls, Holders } from './holders.ts'
import { passkeyLoginOptions, showPasskey } from './passkey-login.ts'
import { showFactor } from './second-factors.proofs.ts'
import * as service from './second-factors.service.ts'

export function secondFactorRoutes(mount: Mount, parts: Parts): void {
  mountCalls(mount, parts, endpoints.secondFactor, parts.accountHolders)
  mountCalls(mount, parts, endpoints.portalSecondFactor, parts.resellerHolders)
}

function mountCalls(
  mount: Mount,
  factors: Parts,
  calls: Calls,
  { kind, selfOf, goOn, signIn }: Holders,
): void {
  const { ctx } = factors
  const access = kind === 'account' ? 'owner' : 'reseller'
  mount(calls.get, access, ({ actor }) => service.getFactors(ctx, selfOf(actor).holder))
  mount(calls.beginTotp, access, ({ actor }) => service.beginTotp(ctx, selfOf(actor)))
  mount(calls.confirmTotp, access, async ({ actor, body }) => ({
    recoveryCodes: await service.confirmTotp(factors, selfOf(actor), body.code),
  }))
  mount(calls.removeTotp, access, async ({ actor, body }) => {
    await service.removeTotp(factors, selfOf(actor), body.code)
    return {}
  })
  mount(calls.passkeyOptions, access, async ({ actor }) => ({
    options: await service.passkeyOptions(ctx, selfOf(actor)),
  }))
  mount(calls.addPasskey, access, ({ actor, body }) => service.addPasskey(factors, selfOf(actor), body))
  mount(calls.removePasskey, access, async ({ actor, params }) => {
    await service.removePasskey(ctx, selfOf(actor), params.id)
    return {}
  })
  mount(calls.complete, 'public', ({ body, address }) =>
    showFactor(factors, kind, { ...body, address }, goOn),
  )
  mount(calls.passkeyLoginOptions, 'public', async () => passkeyLoginOptions(ctx, kind))
  mount(calls.passkeyLogin, 'public', ({ body, address }) =>
    showPasskey(factors, kind, { ...body, address }, (holder, take) => signIn({ holder, take, address })),
  )
}

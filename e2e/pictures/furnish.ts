import type { APIRequestContext } from '@playwright/test'
import type { Keyward } from '../keyward.ts'
import { addShop, sell } from '../shop.ts'
import { makePremium, Program, unique, Vendor } from '../steps.ts'

type Business = Awaited<ReturnType<typeof create>>

const businesses = new Map<string, Promise<Business>>()

/** A vendor with apps, licenses, end users and a reseller; one per server, so that its addresses can be plain. */
export function furnish(keyward: Keyward, request: APIRequestContext, isLong = false): Promise<Business> {
  const known = businesses.get(keyward.url) ?? create(keyward, request, isLong)
  businesses.set(keyward.url, known)
  return known
}

async function create(keyward: Keyward, request: APIRequestContext, isLong: boolean) {
  /** A name that is as long as one can be, where names shall be long. */
  const named = (name: string, length = 80) => (isLong ? name.padEnd(length, 'W') : name)
  const addressed = (address: string) => (isLong ? address.replace('@', `${'w'.repeat(40)}@`) : address)
  const vendor = await Vendor.signUp(request, named('Vera Vendor'), addressed('vera@atlas.example'))
  makePremium(keyward, vendor)
  const studio = await vendor.createApp(named('Atlas Studio'))
  const mobile = await vendor.createApp(named('Atlas Mobile'))

  const password = unique('reseller-password')
  const email = addressed('sales@north.example')
  const wanted = { email, password, app_id: studio._id, allowed_license_keys: 20 }
  const reseller: { _id: string; email: string } = await vendor.call('POST', '/resellers', wanted)
  const login = await request.post('/api/resellers/auth/login', { data: { email, password } })
  const resellerToken: string = (await login.json()).data.token
  const expiresAt = new Date(Date.now() + 60 * 86_400_000).toISOString()
  const generated = await request.post('/api/resellers/auth/licenses', {
    headers: { authorization: `Bearer ${resellerToken}` },
    data: { count: 15, expiresAt },
  })
  const [resold] = (await generated.json()).data.licenses
  await (await Program.start(request, studio)).register('reseller.customer', resold)

  const older = await vendor.createLicenses(mobile, 12, 20)
  const newer = await vendor.createLicenses(studio, 6, 90)
  for (const [index, name] of ['mira', 'jonas.weber', 'studio-nord', 'k.tanaka', 'elif'].entries()) {
    const [app, license] = index < 3 ? [studio, newer[index * 2]!] : [mobile, older[index]!]
    await (await Program.start(request, app)).register(named(name, 64), license, named(`machine-${name}`))
  }
  const { clients } = await vendor.call('GET', '/clients')
  await vendor.call('PATCH', `/clients/${clients[0]._id}/toggle-ban`)
  await vendor.call('PATCH', `/licenses/${newer[3]!._id}/toggle-ban`)
  const user = clients[0] as { _id: string; username: string }

  await vendor.call('POST', `/apps/${studio._id}/license-types`, {
    ...{ name: named('Studio', 60), term: 'forever' },
  })
  await vendor.call('POST', `/apps/${studio._id}/releases`, { version: '1.0.0', releasedAt: '2026-01-01' })
  await vendor.call('PUT', `/apps/${studio._id}`, { settings: { customerPage: true } })
  const shop = await addShop(vendor, studio)
  await sell(request, shop, {
    order: 'A-1001',
    product: named('atlas-studio'),
    email: addressed('mira@studio.example'),
  })
  const { customer } = await vendor.call('POST', '/customers', {
    ...{ email: addressed('jonas@weber.example'), name: named('Jonas Weber') },
  })
  await vendor.call('PATCH', `/clients/${user._id}`, { customer: customer._id })
  const { webhook } = await vendor.call('POST', '/webhooks', {
    url: 'https://hooks.example.com/keyward',
    events: ['license.banned'],
  })
  await vendor.call('POST', '/members', { email: addressed('support@atlas.example'), role: 'support' })
  const items = { app: studio, license: newer[0]!, user, reseller, customer, webhook }
  return { vendor, resellerToken, items }
}

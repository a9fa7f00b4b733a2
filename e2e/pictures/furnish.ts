import type { APIRequestContext } from '@playwright/test'
import type { Keyward } from '../keyward.ts'
import { makePremium, Program, unique, Vendor } from '../steps.ts'

interface Business {
  vendor: Vendor
  resellerToken: string
}

const businesses = new Map<string, Promise<Business>>()

/** A vendor with apps, licenses, end users and a reseller; one per server, so that its addresses can be plain. */
export function furnish(keyward: Keyward, request: APIRequestContext): Promise<Business> {
  const known = businesses.get(keyward.url) ?? create(keyward, request)
  businesses.set(keyward.url, known)
  return known
}

async function create(keyward: Keyward, request: APIRequestContext): Promise<Business> {
  const vendor = await Vendor.signUp(request, 'Vera Vendor', 'vera@atlas.example')
  makePremium(keyward, vendor)
  const studio = await vendor.createApp('Atlas Studio')
  const mobile = await vendor.createApp('Atlas Mobile')

  const password = unique('reseller-password')
  const email = 'sales@north.example'
  await vendor.call('POST', '/resellers', { email, password, app_id: studio._id, allowed_license_keys: 20 })
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
    await (await Program.start(request, app)).register(name, license, `machine-${name}`)
  }
  const { clients } = await vendor.call('GET', '/clients')
  await vendor.call('PATCH', `/clients/${clients[0]._id}/toggle-ban`)
  await vendor.call('PATCH', `/licenses/${newer[3]!._id}/toggle-ban`)
  return { vendor, resellerToken }
}

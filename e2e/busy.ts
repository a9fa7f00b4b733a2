import { createReseller, premiumVendor, Seller } from './reseller.ts'
import { addShop, sell } from './shop.ts'
import { Program } from './steps.ts'

interface Amounts {
  licenses?: number
  users?: number
}

/** A vendor with data of every kind, which every page and control needs to appear, and one of its resellers. */
export async function busyVendor(
  [request, keyward]: Parameters<typeof premiumVendor>,
  { licenses: amount = 30, users = 6 }: Amounts = {},
) {
  const { vendor, app } = await premiumVendor(request, keyward)
  const licenses = await vendor.createLicenses(app, amount)
  const program = await Program.start(request, app)
  await program.register('erik', licenses[0]!, 'first device')
  const { clients } = await vendor.call('GET', '/clients?search=erik')
  for (let at = 1; at < users; at += 1) await program.register(`user${at}`, licenses[at]!)
  const license = licenses.at(-1)!
  const user = clients[0] as { _id: string; username: string }
  await vendor.call('POST', `/apps/${app._id}/license-types`, { name: 'Pro', term: 'forever' })
  await vendor.call('POST', `/apps/${app._id}/releases`, { version: '1.0.0', releasedAt: '2026-01-01' })
  await vendor.call('POST', `/apps/${app._id}/blocklist`, { kind: 'hwid', value: 'stolen' })
  const reseller = await createReseller(vendor, app, 40)
  await vendor.call('PATCH', `/clients/${user._id}/toggle-ban`, { is_banned: true })
  await program.login('erik', 'first device')
  await vendor.call('PATCH', `/clients/${user._id}/toggle-ban`, { is_banned: false })
  const { webhook } = await vendor.call('POST', '/webhooks', {
    url: 'https://hooks.example.com/keyward',
    events: ['reseller.deleted'],
  })
  const shop = await addShop(vendor, app)
  await sell(request, shop, { order: 'A-1', product: 'unknown' })
  const { customer } = await vendor.call('POST', '/customers', { email: 'buyer@example.com' })
  await vendor.call('PATCH', `/clients/${user._id}`, { customer: customer._id })
  return { vendor, app, license, user, webhook, shop, customer, reseller }
}

export type Busy = Awaited<ReturnType<typeof busyVendor>>

/** The reseller, with this many licenses of its own. */
export async function sellerWith(
  request: Parameters<typeof Seller.signIn>[0],
  { reseller }: Busy,
  amount = 30,
) {
  const seller = await Seller.signIn(request, reseller)
  if (amount > 0) await seller.generate(amount)
  return seller
}

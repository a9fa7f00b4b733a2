// On PostgreSQL in the full run: trials, renewals and portal send the same statements there.
import { beforeEach, expect, test } from 'vitest'
import { day, hour } from '../../src/core/clock.ts'
import { toBuyReference } from '../../src/modules/licenses/licenses.rules.ts'
import { makeLicenses, makeType, refusal, single, startProgram } from '../actors.ts'
import { openPage, signInByKey } from '../customer-actor.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)
const shop = 'https://shop.example.com'
let max: Awaited<ReturnType<typeof makeType>>
beforeEach(async () => {
  max = await makeType(owner, app, { name: 'Max' })
})

const typeWithLinks = (fields: object = {}) =>
  makeType(owner, app, {
    duration: { value: 1, unit: 'hours' },
    buyUrl: `${shop}/buy?plan=pro#top`,
    renewUrl: `${shop}/renew/{reference}`,
    upgrades: [{ type: max._id, name: 'Everything', url: `${shop}/max` }],
    ...fields,
  })
const linksOf = ({ _id }: { _id: string }) => {
  const reference = toBuyReference(on.seal, _id)
  return {
    buy: `${shop}/buy?plan=pro&reference=${reference}#top`,
    renew: `${shop}/renew/${reference}`,
    upgrades: [{ name: 'Everything', url: `${shop}/max?reference=${reference}` }],
  }
}
const none = { buy: null, renew: null, upgrades: [] }
const sell = async (type: string) =>
  (await owner.call('POST', '/licenses', { app: app._id, type })).json.data.license
const start = () => startProgram(on, app)
const byKey = async (licenseKey: string, hwid?: string) =>
  (await start()).call('POST', '/license', { licenseKey, hwid })
const setBuyUrl = (buyUrl: string | null) => owner.call('PUT', `/apps/${app._id}`, { settings: { buyUrl } })
const trial = async (hwid: string) => (await start()).call('POST', '/trial', { hwid })

test('every sign-in hands out links with the reference of the first license, and a check none', async () => {
  const type = await typeWithLinks()
  const [first, second, own] = [await sell(type._id), await sell(max._id), await sell(type._id)]
  const links = linksOf(first)
  const user = { username: 'alice', password: 'swordfish' }
  const program = await start()
  const registered = await program.call('POST', '/register', { ...user, licenseKey: first.key, hwid: 'pc-1' })
  const login = await (await start()).call('POST', '/login', { ...user, hwid: 'pc-1', remember: true })
  const { deviceToken } = login.json.data
  const resumed = await (await start()).call('POST', '/resume', { deviceToken, hwid: 'pc-1' })
  const upgraded = await program.call('POST', '/upgrade', { username: 'alice', licenseKey: second.key })
  for (const answer of [registered, login, resumed, upgraded])
    expect(answer.json.data.user.links).toEqual(links)
  expect((await byKey(own.key)).json.data.user.links).toEqual(linksOf(own))
  expect((await program.call('GET', '/session')).json.data.user).not.toHaveProperty('links')

  // Links apply to sold licenses at once.
  await owner.call('PUT', `/license-types/${type._id}`, { buyUrl: null, renewUrl: null, upgrades: [] })
  expect((await byKey(own.key)).json.data.user.links).toEqual(none)
  await setBuyUrl(`${shop}/all`)
  const buy = `${shop}/all?reference=${toBuyReference(on.seal, own._id)}`
  expect((await byKey(own.key)).json.data.user.links).toEqual({ ...none, buy })
})

test('an app without links hands out none', async () => {
  const license = single(await makeLicenses(on, owner, app))
  expect((await byKey(license.key)).json.data.user.links).toEqual(none)
})

test('people without a license get the link of the app, without a reference', async () => {
  const type = await typeWithLinks()
  const license = await sell(type._id)
  const user = { username: 'alice', password: 'swordfish' }
  await (await start()).call('POST', '/register', { ...user, licenseKey: license.key })
  await owner.call('DELETE', `/licenses/${license._id}`)
  await setBuyUrl(`${shop}/all?for={reference}`)
  const refused = await (await start()).call('POST', '/login', user)
  expect(refusal(refused)).toBe('noActiveSubs')
  expect(refused.json.details.links).toEqual({ ...none, buy: `${shop}/all?for=` })
})

test('refusals that a payment can end hand out links, but never those of a check', async () => {
  const type = await typeWithLinks()
  const license = await sell(type._id)
  const program = await start()
  const use = { licenseKey: license.key, hwid: 'pc-1' }
  expect((await program.call('POST', '/license', use)).status).toBe(200)
  const links = linksOf(license)
  const full = await byKey(license.key, 'pc-2')
  expect(refusal(full)).toBe('hwidMismatch')
  expect(full.json.details).toMatchObject({ devices: { used: 1, limit: 1 }, links })
  on.clock.advance(hour + 1)
  const ended = await byKey(license.key, 'pc-1')
  const lease = await program.call('POST', '/lease', { hwid: 'pc-1' })
  for (const answer of [ended, lease])
    expect(answer.json).toMatchObject({ code: 'noActiveSubs', details: { links } })
  // A running program has them since its sign-in.
  const checked = await program.call('GET', '/session')
  expect(checked.json).toMatchObject({ code: 'noActiveSubs', details: { seats: null } })
  expect(checked.json.details).not.toHaveProperty('links')
  const validated = await on.call('POST', '/client/validate', {
    body: { appId: app.appId, licenseKey: license.key, hwid: 'pc-1' },
  })
  expect(validated.json.data).toMatchObject({ code: 'noActiveSubs', details: { seats: null } })
  expect(JSON.stringify(validated.json)).not.toContain('links')
  const unknown = await byKey('KEY-THAT-NOBODY-HAS')
  expect(unknown.json).not.toHaveProperty('details')
})

test('the customer’s page has the links of each license', async () => {
  const type = await typeWithLinks()
  const license = await sell(type._id)
  await openPage(owner, app, { buyUrl: `${shop}/all` })
  const customer = await signInByKey(on, app, license.key)
  expect((await customer.me()).licenses).toMatchObject([{ _id: license._id, links: linksOf(license) }])
  await owner.call('DELETE', `/license-types/${type._id}`)
  const buy = `${shop}/all?reference=${toBuyReference(on.seal, license._id)}`
  expect((await customer.me()).licenses).toMatchObject([{ links: { ...none, buy } }])
})

test('a used trial, full seats and an end of updates hand out links', async () => {
  const trialType = await typeWithLinks({ trial: true })
  const started = await trial('pc-9')
  const { licenses } = (await owner.call('GET', `/licenses?type=${trialType._id}`)).json.data
  const links = linksOf(single<{ _id: string }>(licenses))
  expect(started.json.data.user.links).toEqual(links)
  on.clock.advance(hour + 1)
  expect((await trial('pc-9')).json).toMatchObject({ code: 'trialUsed', details: { links } })

  const type = await typeWithLinks({ updatesForDays: 1, seats: 1, term: 'forever', duration: null })
  const license = await sell(type._id)
  const details = { links: linksOf(license) }
  expect((await byKey(license.key, 'pc-1')).status).toBe(200)
  expect((await byKey(license.key, 'pc-2')).json).toMatchObject({ code: 'noSeats', details })
  const releasedAt = on.clock.inDays(2)
  await owner.call('POST', `/apps/${app._id}/releases`, { version: '1.0.0', releasedAt })
  on.clock.advance(2 * day)
  expect((await byKey(license.key, 'pc-1')).json).toMatchObject({ code: 'updatesEnded', details })
})

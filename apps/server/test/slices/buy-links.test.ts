import { beforeEach, expect, test } from 'vitest'
import { toBuyReference } from '../../src/modules/licenses/licenses.rules.ts'
import { makeApp, makeType, refusal, wrongFields } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)
let team: Awaited<ReturnType<typeof makeType>>
beforeEach(async () => {
  team = await makeType(owner, app, { name: 'Team' })
})

const shop = 'https://shop.example.com'
const edit = (id: string, changes: object) => owner.call('PUT', `/license-types/${id}`, changes)
const typesOf = async () => (await owner.call('GET', `/apps/${app._id}/license-types`)).json.data.licenseTypes
const typeOf = async (id: string) => (await typesOf()).find((type: { _id: string }) => type._id === id)
const sell = async (type: string) =>
  (await owner.call('POST', '/licenses', { app: app._id, type })).json.data.license
const found = async (search: string, as = owner) =>
  (await as.call('GET', `/licenses?search=${encodeURIComponent(search)}`)).json.data.licenses

test.each<[string, object, string[]]>([
  ['a link without https', { buyUrl: 'http://shop.example.com' }, ['buyUrl']],
  ['a link of a script', { renewUrl: 'javascript:alert(1)' }, ['renewUrl']],
  ['a link with a password', { renewUrl: 'https://me:pass@shop.example.com' }, ['renewUrl']],
  ['a link of 501 characters', { buyUrl: `${shop}/${'x'.repeat(501 - shop.length - 1)}` }, ['buyUrl']],
  ['a link with two references', { buyUrl: `${shop}/{reference}?id={reference}` }, ['buyUrl']],
  ['a reference in the name of the host', { buyUrl: 'https://{reference}.example.com' }, ['buyUrl']],
  ['an upgrade without a link', { upgrades: [{ type: 'x', name: 'Team' }] }, ['upgrades.0.url']],
  ['an upgrade to no type', { upgrades: [{ type: 'x', name: 'Team', url: shop }] }, ['upgrades.0.type']],
  ['no paid months', { fallbackAfterMonths: 0 }, ['fallbackAfterMonths']],
  ['121 paid months', { fallbackAfterMonths: 121 }, ['fallbackAfterMonths']],
])('rejects a type with %s', async (_name, links, paths) => {
  const body = { name: 'Pro', term: 'forever', ...links }
  expect(wrongFields(await owner.call('POST', `/apps/${app._id}/license-types`, body))).toEqual(paths)
  expect(wrongFields(await edit(team._id, links))).toEqual(paths)
})

test('upgrades name up to ten other types of the app, and a deleted type leaves them', async () => {
  const upgrade = { type: team._id, name: 'More seats', url: `${shop}/team` }
  const pro = await makeType(owner, app, { name: 'Pro', upgrades: [upgrade], buyUrl: `${shop}/pro` })
  const other = await makeType(owner, await makeApp(owner), { name: 'Other' })
  const to = (type: string) => ({ ...upgrade, type })
  for (const upgrades of [[to(pro._id)], [to(other._id)]])
    expect(wrongFields(await edit(pro._id, { upgrades }))).toEqual(['upgrades.0.type'])
  expect(wrongFields(await edit(pro._id, { upgrades: Array(11).fill(upgrade) }))).toEqual(['upgrades'])
  expect((await edit(pro._id, { upgrades: Array(10).fill(upgrade) })).status).toBe(200)
  const seen = { upgrades: [upgrade] }
  expect(refusal(await edit(pro._id, { upgrades: [], seen }))).toBe('license_type_changed')

  const max = await makeType(owner, app, { name: 'Max' })
  await edit(pro._id, { upgrades: [upgrade, to(max._id)] })
  await owner.call('DELETE', `/license-types/${team._id}`)
  const links = { buyUrl: `${shop}/pro`, renewUrl: null, upgrades: [to(max._id)], fallbackAfterMonths: null }
  expect(await typeOf(pro._id)).toMatchObject(links)
  const audit = (await owner.call('GET', '/audit?limit=2')).json.data.records
  const actions = audit.map(({ action, subject }: { action: string; subject: { _id: string } }) => [
    action,
    subject._id,
  ])
  expect(actions).toEqual([
    ['license_type.updated', pro._id],
    ['license_type.deleted', team._id],
  ])
})

test('a type that is deleted while another takes it as an upgrade is in no upgrade', async () => {
  const pro = await makeType(owner, app, { name: 'Pro' })
  const upgrades = [{ type: team._id, name: 'Team', url: shop }]
  await Promise.all([edit(pro._id, { upgrades }), owner.call('DELETE', `/license-types/${team._id}`)])
  expect((await typeOf(pro._id)).upgrades).toEqual([])
})

test('owners see the reference of a license and find the license by it; a reseller sees no links', async () => {
  const pro = await makeType(owner, app, { name: 'Pro', resellable: true, renewUrl: `${shop}/pro` })
  const license = await sell(pro._id)
  const reference = toBuyReference(on.seal, license._id)
  expect(license.buyReference).toBe(reference)
  const one = await owner.call('GET', `/licenses/${license._id}`)
  expect(one.json.data.license.buyReference).toBe(reference)
  await sell(pro._id)
  expect(await found(reference)).toMatchObject([
    { _id: license._id, match: { field: 'reference', text: reference } },
  ])
  const file = await owner.call('GET', `/licenses/export?search=${reference}`)
  expect(file.raw.toString().trim().split('\n')).toHaveLength(2)
  const audit = await owner.call('GET', `/audit?search=${reference}`)
  expect(audit.json.data.records).toMatchObject([{ action: 'licenses.created' }])
  expect(await found(reference.slice(0, -1))).toEqual([])

  const reseller = await makeReseller(on, owner, app)
  const offers = (await reseller.call('GET', '/license-types')).json.data.licenseTypes
  expect(offers).toEqual([expect.objectContaining({ _id: pro._id })])
  expect(Object.keys(offers[0]).filter((name) => /url|upgrades|fallback/i.test(name))).toEqual([])
  const made = await reseller.call('POST', '/licenses', { count: 1, type: pro._id })
  expect(JSON.stringify(made.json)).not.toContain('kwr_')
})

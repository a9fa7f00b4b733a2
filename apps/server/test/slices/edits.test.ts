import { describe, expect, test } from 'vitest'
import { activateKey, makeLicenses, makeType, refusal, single, startProgram, wrongFields } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'
import { makeReseller } from '../reseller-actor.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

interface Editable {
  method?: 'PATCH'
  path: string
  code: string
  /** Reads the values, with the ones that an edit names as seen. */
  read: () => Promise<{ now: object; seen: unknown }>
  first: object
  second: object
  /** Values that were never stored. */
  unseen: unknown
}

const at = async (path: string) => (await owner.call('GET', path)).json.data

const texts = async (query: string): Promise<Editable> => ({
  path: `/apps/${app._id}/error-messages${query}`,
  code: 'messages_changed',
  read: async () => {
    const { errorMessages, changed } = await at(`/apps/${app._id}/error-messages${query}`)
    const own = (key: string) => (changed.includes(key) ? errorMessages[key] : null)
    const now = { keyUsed: own('keyUsed'), keyBanned: own('keyBanned') }
    return { now, seen: now }
  },
  first: { keyUsed: 'Taken', keyBanned: 'Banned' },
  second: { keyUsed: 'In use', keyBanned: null },
  unseen: { keyUsed: 'Never there' },
})

const editables: Record<string, () => Promise<Editable>> = {
  'the name of an app': async () => ({
    path: `/apps/${app._id}`,
    code: 'app_changed',
    read: async () => {
      const { name, version } = (await at(`/apps/${app._id}`)).app
      return { now: { name, version }, seen: { name, version } }
    },
    first: { name: 'First', version: '1.0.0' },
    second: { name: 'Second', version: '1.0.0' },
    unseen: { name: 'Unseen' },
  }),
  'a setting of an app': async () => ({
    path: `/apps/${app._id}`,
    code: 'app_changed',
    read: async () => {
      const { vpnAllowed, leaseHours } = (await at(`/apps/${app._id}`)).app.settings
      return { now: { settings: { vpnAllowed, leaseHours } }, seen: { settings: { vpnAllowed } } }
    },
    first: { settings: { vpnAllowed: ['203.0.113.0/24'], leaseHours: 1 } },
    second: { settings: { vpnAllowed: ['198.51.100.7'], leaseHours: 2 } },
    unseen: { settings: { hwidLock: false } },
  }),
  'the texts of an app': () => texts(''),
  'the texts of an app in a language': () => texts('?locale=de'),
  'the limit of a reseller': async () => {
    const { _id, email } = await makeReseller(on, owner, app)
    return {
      path: `/resellers/${_id}`,
      code: 'reseller_changed',
      read: async () => {
        const { resellers } = await at(`/resellers?search=${email}`)
        const { allowed_license_keys: licenseLimit } = single(resellers) as { allowed_license_keys: number }
        return { now: { licenseLimit }, seen: { licenseLimit } }
      },
      first: { licenseLimit: 20 },
      second: { licenseLimit: 30 },
      unseen: { licenseLimit: 9999 },
    }
  },
  'a license type': async () => {
    const { _id } = await makeType(owner, app, { name: 'Pro' })
    return {
      path: `/license-types/${_id}`,
      code: 'license_type_changed',
      read: async () => {
        const { licenseTypes } = await at(`/apps/${app._id}/license-types`)
        const { duration, features } = single(licenseTypes) as { duration: object; features: string[] }
        return { now: { duration, features }, seen: { duration, features } }
      },
      first: { duration: { unit: 'years', value: 3 }, features: ['first'] },
      second: { duration: { unit: 'days', value: 5 }, features: ['second'] },
      unseen: { features: ['unseen'] },
    }
  },
  'the variables of an app': async () => ({
    path: `/apps/${app._id}/variables`,
    code: 'variables_changed',
    read: async () => {
      const { variables, revision } = await at(`/apps/${app._id}/variables`)
      return { now: { variables }, seen: revision }
    },
    first: { variables: [{ name: 'quota', value: '1', public: true }] },
    second: { variables: [{ name: 'quota', value: '2', public: true }] },
    unseen: 'var_unseen',
  }),
  'the variables of an end user': async () => {
    const { user } = await activateKey(on, owner, app)
    return {
      path: `/clients/${user._id}/variables`,
      code: 'variables_changed',
      read: async () => {
        const { variables, revision } = await at(`/clients/${user._id}/variables`)
        return { now: { variables }, seen: revision }
      },
      first: { variables: [{ name: 'quota', value: '1' }] },
      second: { variables: [{ name: 'quota', value: '2' }] },
      unseen: 'var_unseen',
    }
  },
  'the expiry of a license': async () => {
    const { _id } = single(await makeLicenses(on, owner, app))
    return {
      path: `/licenses/${_id}`,
      code: 'license_changed',
      read: async () => {
        const { expiresAt } = (await at(`/licenses/${_id}`)).license
        return { now: { expiresAt }, seen: { expiresAt } }
      },
      first: { expiresAt: on.clock.inDays(60) },
      second: { expiresAt: null },
      unseen: { expiresAt: on.clock.inDays(1) },
    }
  },
  'the expiry of an end user': async () => {
    const { user } = await activateKey(on, owner, app)
    return {
      method: 'PATCH',
      path: `/clients/${user._id}`,
      code: 'client_changed',
      read: async () => {
        const { expiresAt } = (await at(`/clients/${user._id}`)).client
        return { now: { expiresAt }, seen: { expiresAt } }
      },
      first: { expiresAt: on.clock.inDays(60) },
      second: { expiresAt: null },
      unseen: { expiresAt: on.clock.inDays(1) },
    }
  },
  'the allowed builds of an app': async () => ({
    path: `/apps/${app._id}/program-hashes`,
    code: 'app_changed',
    read: async () => {
      const { hashes } = await at(`/apps/${app._id}/program-hashes`)
      return { now: { hashes }, seen: { hashes } }
    },
    first: { hashes: [{ version: '1.0.0', hash: 'a'.repeat(64) }] },
    second: { hashes: [{ version: '1.0.0', hash: 'b'.repeat(64) }] },
    unseen: { hashes: [{ version: '1.0.0', hash: 'c'.repeat(64) }] },
  }),
}

describe.each(Object.keys(editables))('an edit of %s that names what the caller saw', (name) => {
  const prepare = async () => {
    const editable = await editables[name]!()
    const edit = (wanted: object, seen: unknown) =>
      owner.call(editable.method ?? 'PUT', editable.path, { ...wanted, seen })
    return { ...editable, edit, seen: (await editable.read()).seen }
  }

  test('saves nothing after another user has changed it', async () => {
    const { edit, read, seen, first, second, code } = await prepare()
    expect((await edit(first, seen)).status).toBe(200)
    expect(refusal(await edit(second, seen))).toBe(code)
    const { now, seen: seenNow } = await read()
    expect(now).toEqual(first)
    expect((await edit(second, seenNow)).status).toBe(200)
    expect((await read()).now).toEqual(second)
  })

  test('succeeds again when its response was lost', async () => {
    const { edit, read, seen, first } = await prepare()
    expect((await edit(first, seen)).status).toBe(200)
    expect((await edit(first, seen)).status).toBe(200)
    expect((await read()).now).toEqual(first)
  })

  test('succeeds for exactly one of several concurrent editors', async () => {
    const { edit, seen, first, second } = await prepare()
    const answers = await Promise.all([first, second].map((wanted) => edit(wanted, seen)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('is rejected for values that were never there', async () => {
    const { edit, unseen, second, code } = await prepare()
    expect(refusal(await edit(second, unseen))).toBe(code)
  })
})

test.each(['apps', 'resellers'])('an edit of %s must change something', async (noun) => {
  const { _id } = await makeReseller(on, owner, app)
  const path = noun === 'apps' ? `/apps/${app._id}` : `/resellers/${_id}`
  expect(wrongFields(await owner.call('PUT', path, { seen: {} }))).toEqual([''])
})

test('saving one text keeps those that another editor has changed meanwhile', async () => {
  const path = `/apps/${app._id}/error-messages`
  await owner.call('PUT', path, { keyBanned: 'Banned' })
  const edit = { keyUsed: 'Taken', seen: { keyUsed: null } }
  const { errorMessages } = (await owner.call('PUT', path, edit)).json.data
  expect(errorMessages).toMatchObject({ keyUsed: 'Taken', keyBanned: 'Banned' })
})

test('two people who each add a month to the same license or end user add two', async () => {
  const { license, user } = await activateKey(on, owner, app)
  const month = { action: 'extend', duration: { value: 1, unit: 'months' } }
  const { expiresAt: before } = (await at(`/licenses/${license._id}`)).license
  const expected = new Date(before)
  for (const [path, id] of [
    ['/licenses/bulk', license._id],
    ['/clients/bulk', user._id],
  ] as const) {
    const answers = await Promise.all([1, 2].map(() => owner.call('POST', path, { ...month, ids: [id] })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    for (let at = 0; at < 2; at++) expected.setUTCMonth(expected.getUTCMonth() + 1)
    expect((await at(`/licenses/${license._id}`)).license.expiresAt).toBe(expected.toISOString())
  }
})

describe('an edit of an expiry', () => {
  const edit = (id: string, wanted: object) => owner.call('PUT', `/licenses/${id}`, wanted)

  test('is rejected after the license was first used', async () => {
    const duration = { value: 30, unit: 'days' }
    const made = await owner.call('POST', '/licenses', { app: app._id, duration })
    const { _id, key, expiresAt, term } = made.json.data.license
    await (await startProgram(on, app)).call('POST', '/license', { licenseKey: key })
    const wanted = { expiresAt: on.clock.inDays(5), seen: { expiresAt, term } }
    expect(refusal(await edit(_id, wanted))).toBe('license_changed')
  })

  test('is rejected after the term became another one that has no date either', async () => {
    const duration = { value: 30, unit: 'days' }
    const made = await owner.call('POST', '/licenses', { app: app._id, duration })
    const { _id, expiresAt, term } = made.json.data.license
    const seen = { expiresAt, term }
    expect((await edit(_id, { expiresAt: null, seen })).json.data.license.term).toBe('forever')
    expect(refusal(await edit(_id, { expiresAt: on.clock.inDays(5), seen }))).toBe('license_changed')
    expect((await edit(_id, { expiresAt: null, seen })).status).toBe(200)
  })

  test('of a paused end user accepts an end that has moved with the clock alone', async () => {
    const { license, user } = await activateKey(on, owner, app)
    await owner.call('PATCH', `/clients/${user._id}/toggle-pause`, { paused: true })
    const { expiresAt } = (await at(`/licenses/${license._id}`)).license
    on.clock.advance(3 * 24 * 60 * 60 * 1000)
    const moved = (await at(`/licenses/${license._id}`)).license
    expect(Date.parse(moved.expiresAt)).toBeGreaterThan(Date.parse(expiresAt))
    expect((await edit(license._id, { expiresAt: on.clock.inDays(50), seen: { expiresAt } })).status).toBe(
      200,
    )
    expect(refusal(await edit(license._id, { expiresAt: on.clock.inDays(9), seen: { expiresAt } }))).toBe(
      'license_changed',
    )
  })

  test('to the past succeeds again when its response was lost', async () => {
    const { _id, expiresAt } = single(await makeLicenses(on, owner, app))
    const wanted = { expiresAt: '2001-01-01', seen: { expiresAt } }
    expect((await edit(_id, wanted)).status).toBe(200)
    expect((await edit(_id, wanted)).json.data.license.expiresAt).toBe(on.clock.inDays(0))
  })
})

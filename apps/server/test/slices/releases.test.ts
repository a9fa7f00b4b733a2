// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { refusal, wrongFields } from '../actors.ts'
import { makeApiKey } from '../api-key-actor.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll({}, { gateSizes: { requests: { running: 100, waiting: 0 } } })
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const add = (version: string, releasedAt: string, link?: string | null) =>
  owner.call('POST', `/apps/${app._id}/releases`, { version, releasedAt, link })
const post = (body: object) => owner.call('POST', `/apps/${app._id}/releases`, body)
const list = async () => (await owner.call('GET', `/apps/${app._id}/releases`)).json.data.releases

const artifact = {
  ...{ platform: 'windows', architecture: 'x64', kind: 'installer' },
  name: 'Atlas Übersicht 1.2.0.exe',
  url: 'https://example.com/Atlas%201.2.0.exe',
  // Above what a database stores in 32 bits.
  size: 5_368_709_120,
  sha512: 'ab'.repeat(64),
}
const security = {
  severity: 'high',
  affects: [{ from: '1.0.0', before: '1.2.0' }],
  summary: 'A crafted project file runs code.',
  advisory: 'https://example.com/advisories/1',
}

describe('the released versions of an app', () => {
  test('are listed newest first until they are removed', async () => {
    const { status, json } = await add('1.0.0', '2026-01-01T00:00:00Z', 'https://example.com/atlas/1.0.0')
    expect(status).toBe(201)
    expect(json.data.release).toEqual({
      _id: expect.stringMatching(/^rel_/),
      version: '1.0.0',
      releasedAt: '2026-01-01T00:00:00.000Z',
      link: 'https://example.com/atlas/1.0.0',
      ...{ channel: 'stable', notes: null, updatesFrom: null, build: null, security: null },
      ...{ withdrawnAt: null, artifacts: [] },
      createdAt: on.clock.inDays(0),
    })
    await add('1.2.0', '2026-03-01')
    await add('1.1.0', '2026-02-01', null)
    const listed = await list()
    expect(listed.map((one: { version: string }) => one.version)).toEqual(['1.2.0', '1.1.0', '1.0.0'])
    expect(listed[0].releasedAt).toBe('2026-03-01T23:59:59.999Z')
    expect((await owner.call('DELETE', `/releases/${listed[0]._id}`)).status).toBe(200)
    expect(refusal(await owner.call('DELETE', `/releases/${listed[0]._id}`))).toBe('not_found')
    expect(await list()).toHaveLength(2)
  })

  test('become the version of the app once they are out and newer', async () => {
    const versionOf = async () => (await owner.call('GET', `/apps/${app._id}`)).json.data.app.version
    await add('1.0.0', '2026-01-01')
    expect(await versionOf()).toBe('1.0.0')
    const today = on.clock.inDays(0).slice(0, 10)
    await add('1.10.0', today)
    expect(await versionOf()).toBe('1.10.0')
    await add('1.9.0', today)
    await add('2.0.0', on.clock.inDays(2))
    expect(await versionOf()).toBe('1.10.0')
    const { records } = (await owner.call('GET', `/audit?subject=${app._id}`)).json.data
    expect(records.find(({ action }: { action: string }) => action === 'app.updated').detail).toEqual({
      before: { version: '1.0.0' },
      after: { version: '1.10.0' },
    })
  })

  test('have a channel, notes, artifacts and a security fix', async () => {
    const further = {
      channel: 'beta',
      notes: '# 1.2.0\n\n* <b>Größer</b>',
      updatesFrom: '1.0.0',
      build: '1200',
      security,
      artifacts: [
        artifact,
        {
          ...artifact,
          architecture: 'arm64',
          sha256: 'c'.repeat(64),
          sha1: 'd'.repeat(40),
          signature: 'RWQ=',
        },
      ],
    }
    const { json } = await post({ version: '1.2.0', releasedAt: '2026-01-01', ...further })
    expect(json.data.release).toMatchObject(further)
    expect(await list()).toEqual([json.data.release])
    expect((await owner.call('GET', `/apps/${app._id}`)).json.data.app.version).toBe('1.0.0')
  })

  test('keep a security fix that is out, whoever removes and lists it again', async () => {
    const { release } = (await post({ version: '1.2.0', releasedAt: '2026-01-01', security })).json.data
    expect((await owner.call('DELETE', `/releases/${release._id}`)).status).toBe(200)
    expect(refusal(await add('1.2.0', on.clock.inDays(3)))).toBe('security_kept')
    expect((await add('1.2.0', '2026-01-02')).json.data.release.security).toEqual(security)
    const planned = (await post({ version: '2.0.0', releasedAt: on.clock.inDays(3), security })).json.data
    await owner.call('DELETE', `/releases/${planned.release._id}`)
    expect((await add('2.0.0', '2026-01-02')).json.data.release.security).toBeNull()
  })

  test('are changed and withdrawn, and the version of the app follows', async () => {
    const versionOf = async () => (await owner.call('GET', `/apps/${app._id}`)).json.data.app.version
    const made: Record<string, { _id: string }> = {}
    for (const version of ['1.9.0', '1.10.0', '1.11.0', '2.0.0']) {
      const channel = version === '1.11.0' ? 'beta' : 'stable'
      made[version] = (await post({ version, releasedAt: '2026-01-01', channel })).json.data.release
    }
    await post({ version: '3.0.0', releasedAt: on.clock.inDays(3) })
    const put = (version: string, body: object) => owner.call('PUT', `/releases/${made[version]?._id}`, body)
    const withdraw = (version: string) => owner.call('POST', `/releases/${made[version]?._id}/withdraw`)
    expect(await versionOf()).toBe('2.0.0')

    const { release } = (await withdraw('2.0.0')).json.data
    expect(release.withdrawnAt).toBe(on.clock.inDays(0))
    expect(await versionOf()).toBe('1.10.0')
    on.clock.advance(60_000)
    expect((await withdraw('2.0.0')).json.data.release).toEqual(release)
    expect((await put('2.0.0', { notes: 'Broken' })).json.data.release).toEqual({
      ...release,
      notes: 'Broken',
    })
    expect(await versionOf()).toBe('1.10.0')

    expect((await put('1.11.0', { channel: 'stable' })).status).toBe(200)
    expect(await versionOf()).toBe('1.11.0')
    await put('1.11.0', { releasedAt: on.clock.inDays(3) })
    expect(await versionOf()).toBe('1.10.0')
    await put('1.10.0', { version: '1.8.0' })
    expect(await versionOf()).toBe('1.9.0')
    expect(refusal(await put('1.10.0', { version: '1.9.0' }))).toBe('release_exists')
    await withdraw('1.9.0')
    await withdraw('1.10.0')
    expect(await versionOf()).toBe('1.8.0')

    const about = `/audit?subject=${made['2.0.0']?._id}`
    const { records } = (await owner.call('GET', about)).json.data
    expect(records.map(({ action }: { action: string }) => action)).toEqual([
      ...['release.updated', 'release.withdrawn', 'release.added'],
    ])
    expect(records[0].detail).toEqual({ before: { notes: null }, after: { notes: 'Broken' } })
  })

  test('are changed by two callers one after the other, if they say what they saw', async () => {
    const { release } = (await post({ version: '1.2.0', releasedAt: '2026-01-01' })).json.data
    const put = (body: object) => owner.call('PUT', `/releases/${release._id}`, body)
    const files = ['x64', 'arm64'].map((architecture) => ({ ...artifact, architecture }))
    const answers = await Promise.all(
      files.map((file) => put({ artifacts: [file], seen: { artifacts: release.artifacts } })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(answers.filter(({ status }) => status === 409).map(refusal)).toEqual(['release_changed'])
    const [{ artifacts }] = await list()
    expect((await put({ artifacts: files, seen: { artifacts } })).json.data.release.artifacts).toEqual(files)
  })

  test('keep the security fix of a release that is out through every change', async () => {
    const { release } = (await post({ version: '1.2.0', releasedAt: '2026-01-01' })).json.data
    const put = (body: object) => owner.call('PUT', `/releases/${release._id}`, body)
    const fixed = { ...security, severity: 'critical', affects: [{ from: null, before: '1.2.0' }] }
    expect((await put({ security })).json.data.release.security).toEqual(security)
    expect((await put({ security: fixed })).json.data.release.security).toEqual(fixed)
    for (const change of [{ security: null }, { releasedAt: on.clock.inDays(3) }, { version: '1.3.0' }]) {
      expect(refusal(await put(change))).toBe('security_kept')
    }
    await owner.call('POST', `/releases/${release._id}/withdraw`)
    expect(refusal(await put({ security: null }))).toBe('security_kept')
    const planned = (await post({ version: '2.0.0', releasedAt: on.clock.inDays(3), security })).json.data
    const unset = await owner.call('PUT', `/releases/${planned.release._id}`, { security: null })
    expect(unset.json.data.release.security).toBeNull()
  })

  test('need releases:write, and apps:write alone for the fields of before', async () => {
    const keyWith = async (...permissions: string[]) => (await makeApiKey(on, owner, { permissions })).call
    const apps = await keyWith('apps:read', 'apps:write')
    const ci = await keyWith('releases:write')
    const viewer = await keyWith('releases:read')
    const path = `/apps/${app._id}/releases`
    const released = { version: '1.1.0', releasedAt: '2026-01-01', link: 'https://example.com' }
    expect((await ci('POST', path, { ...released, artifacts: [artifact], security })).status).toBe(201)
    expect((await apps('POST', path, { ...released, version: '1.2.0' })).status).toBe(201)
    for (const field of [{ channel: 'beta' }, { security: null }, { artifacts: [] }]) {
      const answer = await apps('POST', path, { ...released, version: '1.3.0', ...field })
      expect(refusal(answer)).toBe('permission_missing')
    }
    for (const call of [apps, ci, viewer]) {
      expect((await call('GET', path)).json.data.releases).toHaveLength(2)
    }
    const [{ _id }] = await list()
    for (const call of [apps, viewer]) {
      expect(refusal(await call('PUT', `/releases/${_id}`, { notes: 'a' }))).toBe('permission_missing')
      expect(refusal(await call('POST', `/releases/${_id}/withdraw`))).toBe('permission_missing')
    }
    expect(refusal(await viewer('DELETE', `/releases/${_id}`))).toBe('permission_missing')
    expect((await ci('POST', `/releases/${_id}/withdraw`)).status).toBe(200)
    expect((await apps('DELETE', `/releases/${_id}`)).status).toBe(200)
  })

  test('take at most 8 MiB', async () => {
    const notes = 'é'.repeat(20_000)
    const rows = Array.from({ length: 209 }, (_, at) => ({
      ...{ id: `rel_${app._id}_${at}`, owner_id: owner.id, app_id: app._id, version: `0.0.${at}` },
      ...{ released_at: at, created_at: at, notes, bytes: 40_002 },
    }))
    await on.database.db.insertInto('releases').values(rows).execute()
    expect(refusal(await post({ version: '1.0.0', releasedAt: '2026-01-01', notes }))).toBe(
      'releases_too_large',
    )
    expect((await add('1.0.0', '2026-01-01')).status).toBe(201)
  })

  test('contain each version once, also among concurrent callers', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => add('1.0.0', '2026-01-01')))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    const [other] = answers.filter(({ status }) => status !== 201)
    if (!other) throw new Error('expected seven refusals')
    expect(refusal(other)).toBe('release_exists')
    expect(other.json.errors[0].path).toBe('version')
  })

  test('are at most 1000, also among concurrent callers', async () => {
    const rows = Array.from({ length: 997 }, (_, at) => ({
      id: `rel_${app._id}_${at}`,
      owner_id: owner.id,
      app_id: app._id,
      version: `0.0.${at}`,
      released_at: at,
      link: null,
      created_at: at,
    }))
    await on.database.db.insertInto('releases').values(rows).execute()
    const { release } = (await post({ version: '0.1.0', releasedAt: '2026-01-01', security })).json.data
    // Its fix is kept, and counts.
    await owner.call('DELETE', `/releases/${release._id}`)
    const answers = await Promise.all(Array.from({ length: 6 }, (_, at) => add(`1.0.${at}`, '2026-01-01')))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2)
    const full = answers.filter(({ status }) => status !== 201).map(refusal)
    expect(new Set(full)).toEqual(new Set(['releases_full']))
  })

  test('stay readable with a link that can no longer be added', async () => {
    const link = 'http://user@example.com/\u202egpj.exe'
    const row = { owner_id: owner.id, app_id: app._id, version: '1.0.0', released_at: 1, created_at: 1 }
    await on.database.db
      .insertInto('releases')
      .values({ ...row, id: `rel_${app._id}`, link })
      .execute()
    expect(await list()).toEqual([expect.objectContaining({ version: '1.0.0', link })])
  })

  test.each([
    ['version', { version: '1.0' }],
    ['version', { version: '1.0.0-beta' }],
    ['releasedAt', { releasedAt: 'yesterday' }],
    ['link', { link: 'javascript:alert(1)' }],
    ['link', { link: 'ftp://example.com/a' }],
    ['link', { link: 'http://example.com/a' }],
    ['link', { link: 'https://example.com@example.org/a' }],
    ['link', { link: 'https://user:secret@example.com/a' }],
    ['link', { link: 'https://example.com/\u202egpj.exe' }],
    ['link', { link: 'https://example.com/a\u200bb' }],
    ['link', { link: 'https://example.com/\u2066a\u2069' }],
    ['link', { link: 'https://example.com/a b' }],
    ['link', { link: 'https:\\\\example.com/a' }],
    ['link', { link: `https://example.com/${'a'.repeat(500)}` }],
    ['channel', { channel: 'Beta' }],
    ['channel', { channel: '' }],
    ['notes', { notes: 'a'.repeat(20_001) }],
    ['notes', { notes: 'a\u0000' }],
    ['updatesFrom', { updatesFrom: '1.0' }],
    ['build', { build: '1 2' }],
    ['security.affects.0', { security: { ...security, affects: [{ from: '1.10.0', before: '1.9.0' }] } }],
    ['security.advisory', { security: { ...security, advisory: 'http://example.com' } }],
    ['security.summary', { security: { ...security, summary: ' ' } }],
    ['artifacts', { artifacts: Array.from({ length: 41 }, (_, at) => ({ ...artifact, name: `${at}` })) }],
    ['artifacts', { artifacts: [artifact, { ...artifact, platform: 'Windows' }] }],
    ['artifacts.0.name', { artifacts: [{ ...artifact, name: '../a.exe' }] }],
    ['artifacts.0.name', { artifacts: [{ ...artifact, name: '..' }] }],
    ['artifacts.0.name', { artifacts: [{ ...artifact, name: 'a\u202eexe.zip' }] }],
    ['artifacts.0.url', { artifacts: [{ ...artifact, url: 'http://example.com/a' }] }],
    ['artifacts.0.size', { artifacts: [{ ...artifact, size: 0 }] }],
    ['artifacts.0.size', { artifacts: [{ ...artifact, size: 2 ** 53 }] }],
    ['artifacts.0.sha512', { artifacts: [{ ...artifact, sha512: 'AB'.repeat(64) }] }],
    ['artifacts.0.sha1', { artifacts: [{ ...artifact, sha1: 'ab' }] }],
    ['artifacts.0.signature', { artifacts: [{ ...artifact, signature: 'a b' }] }],
  ])('reject a wrong %s', async (field, wrong) => {
    const body = { version: '1.0.0', releasedAt: '2026-01-01', ...wrong }
    expect(wrongFields(await owner.call('POST', `/apps/${app._id}/releases`, body))).toEqual([field])
  })
})

// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { refusal, wrongFields } from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll({}, { gateSizes: { requests: { running: 100, waiting: 0 } } })
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)

const add = (version: string, releasedAt: string, link?: string | null) =>
  owner.call('POST', `/apps/${app._id}/releases`, { version, releasedAt, link })
const list = async () => (await owner.call('GET', `/apps/${app._id}/releases`)).json.data.releases

describe('the released versions of an app', () => {
  test('are listed newest first until they are removed', async () => {
    const { status, json } = await add('1.0.0', '2026-01-01T00:00:00Z', 'https://example.com/atlas/1.0.0')
    expect(status).toBe(201)
    expect(json.data.release).toEqual({
      _id: expect.stringMatching(/^rel_/),
      version: '1.0.0',
      releasedAt: '2026-01-01T00:00:00.000Z',
      link: 'https://example.com/atlas/1.0.0',
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

  test('contain each version once, also among concurrent callers', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => add('1.0.0', '2026-01-01')))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    const [other] = answers.filter(({ status }) => status !== 201)
    if (!other) throw new Error('expected seven refusals')
    expect(refusal(other)).toBe('release_exists')
    expect(other.json.errors[0].path).toBe('version')
  })

  test('are at most 1000, also among concurrent callers', async () => {
    const rows = Array.from({ length: 998 }, (_, at) => ({
      id: `rel_${app._id}_${at}`,
      owner_id: owner.id,
      app_id: app._id,
      version: `0.0.${at}`,
      released_at: at,
      link: null,
      created_at: at,
    }))
    await on.database.db.insertInto('releases').values(rows).execute()
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
  ])('reject a wrong %s', async (field, wrong) => {
    const body = { version: '1.0.0', releasedAt: '2026-01-01', ...wrong }
    expect(wrongFields(await owner.call('POST', `/apps/${app._id}/releases`, body))).toEqual([field])
  })
})

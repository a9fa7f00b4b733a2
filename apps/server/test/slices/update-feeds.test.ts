// On PostgreSQL in the full run: exposure and client-updates send the same statements there.
import { mkdtempSync, rmSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { HttpExecutor, parseXml } from 'builder-util-runtime'
import { NsisUpdater } from 'electron-updater'
import type { UpdateInfoAndProvider } from 'electron-updater/out/AppUpdater.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { buildApp } from '../../src/app.ts'
import { day } from '../../src/core/clock.ts'
import { makeApp, makeLicenses, single, startProgram } from '../actors.ts'
import { appForEach, ownerForEach, serverForAll } from '../fixtures.ts'
import { isFull, times } from '../rounds.ts'
import { updatesOn } from '../update-actor.ts'

const on = serverForAll({ RATE_LIMITS: 'on' })
const owner = ownerForEach(on)
const app = appForEach(owner)

const digests = { sha512: 'ab'.repeat(64), sha256: 'cd'.repeat(32), sha1: 'ef'.repeat(20) }
const file = (platform: string, architecture: string, name: string, more: object = {}) => ({
  ...{ platform, architecture, kind: 'installer', name, size: 1000, sha512: digests.sha512 },
  url: `https://example.com/${name}?a=1&b=2`,
  ...more,
})
const filesOf = (version: string) => [
  file('windows', 'x64', `atlas-${version}-x64.exe`, { signature: 'tauri-windows' }),
  file('windows', 'arm64', `atlas-${version}-arm64.exe`),
  file('macos', 'universal', `atlas-${version}.dmg`, { signature: 'ed25519' }),
  file('linux', 'x64', `atlas-${version}.AppImage`),
  file('linux', 'arm64', `atlas-${version}-arm64.AppImage`, { signature: 'tauri-linux' }),
  file('windows', 'x64', `Atlas-${version}-full.nupkg`, { kind: 'full', ...digests }),
  file('windows', 'x64', `Atlas-${version}-delta.nupkg`, { kind: 'delta', ...digests }),
  file('windows', 'x86', `Atlas-${version}-x86-full.nupkg`, { kind: 'full' }),
]
const notes = '# "News" & <b>more</b>\n- it\'s: here # now\u2028]]>'
const { makeKey, ...vendor } = updatesOn(on, owner, app)
const release = (version: string, days: number, more: object = {}) =>
  vendor.release(version, days, { artifacts: filesOf(version), notes, ...more })
/** Releases 4.0.0, 4.1.0 and so on, as they are stored. */
const insertMany = (length: number, more: (version: string) => object, from = 0) =>
  on.database.db
    .insertInto('releases')
    .values(
      Array.from({ length }, (_, index) => index + from).map((at) => ({
        ...{ id: `rel_${app._id}_${at}`, owner_id: owner.id, app_id: app._id, version: `4.${at}.0` },
        ...{ link: null, released_at: on.clock.now(), created_at: on.clock.now(), ...more(`4.${at}.0`) },
      })),
    )
    .execute()
const read = async (path: string, headers: Record<string, string> = {}) => {
  const response = await on.server.inject({ url: `/api/updates/${app.appId}/${path}`, headers })
  return { status: response.statusCode, text: response.body, headers: response.headers }
}
const open = () => owner.call('PUT', `/apps/${app._id}`, { settings: { publicUpdates: true } })
const by = (key: string) => ({ 'keyward-license': key })
const versionsIn = (text: string) => [...text.matchAll(/"Version":"([^"]+)"/g)].map(([, version]) => version)

beforeEach(async () => {
  await release('1.0.0', 0)
  await release('2.0.0', 0, { build: '20' })
  await release('3.0.0', 11, { updatesFrom: '2.0.0' })
})

test('writes what electron-updater reads: a file for each platform, with digests in base64', async () => {
  await open()
  const { status, text, headers } = await read('electron/latest.yml')
  expect(status).toBe(200)
  expect(headers).toMatchObject({
    ...{ 'content-type': 'text/yaml; charset=utf-8', 'cache-control': 'no-cache' },
    vary: 'authorization, keyward-license',
  })
  const sha512 = Buffer.from(digests.sha512, 'hex').toString('base64')
  const urlOf = (name: string) => `https://example.com/${name}?a=1&b=2`
  expect(parse(text)).toEqual({
    version: '2.0.0',
    files: ['x64.exe', 'arm64.exe', 'full.nupkg', 'x86-full.nupkg'].map((end) => ({
      ...{ url: urlOf(`${end.endsWith('exe') ? 'atlas' : 'Atlas'}-2.0.0-${end}`), sha512, size: 1000 },
    })),
    path: urlOf('atlas-2.0.0-x64.exe'),
    sha512,
    releaseDate: on.clock.inDays(0),
    releaseNotes: notes,
  })
  const filesIn = async (name: string) =>
    parse((await read(`electron/${name}`)).text).files.map(
      ({ url }: { url: string }) => new URL(url).pathname,
    )
  expect(await filesIn('stable-mac.yml')).toEqual(['/atlas-2.0.0.dmg'])
  expect(await filesIn('latest-linux.yml')).toEqual(['/atlas-2.0.0.AppImage'])
  expect(await filesIn('latest-linux-arm64.yml')).toEqual(['/atlas-2.0.0-arm64.AppImage'])
  expect((await read('electron/beta.yml')).status).toBe(404)
  expect((await read('electron/latest.yml', { 'if-none-match': String(headers.etag) })).status).toBe(304)
})

describe("electron-updater's own code", () => {
  class Executor extends HttpExecutor<ClientRequest> {
    createRequest(options: RequestOptions, callback: (response: IncomingMessage) => void): ClientRequest {
      return request(options, callback)
    }
  }
  const folder = mkdtempSync(join(tmpdir(), 'keyward-updater-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  let url: string
  beforeAll(async () => {
    url = await on.server.listen({ port: 0, host: '127.0.0.1' })
  })

  /** What a program of a version on a platform finds. */
  async function check(version: string, platform: 'win32' | 'darwin' | 'linux', key?: string) {
    const updater = new NsisUpdater(undefined, {
      ...{ version, name: 'Atlas', isPackaged: true, appUpdateConfigPath: '' },
      ...{ userDataPath: folder, baseCachePath: folder },
      ...{ whenReady: async () => {}, relaunch() {}, quit() {}, onQuit() {} },
    })
    Object.assign(updater, { httpExecutor: new Executor(), _testOnlyOptions: { platform } })
    Object.assign(updater, { logger: null, autoDownload: false, requestHeaders: key && by(key) })
    updater.setFeedURL({ provider: 'generic', url: `${url}/api/updates/${app.appId}/electron` })
    const found = await updater.checkForUpdates()
    const { provider } = (updater as unknown as { updateInfoAndProvider?: UpdateInfoAndProvider })
      .updateInfoAndProvider ?? { provider: undefined }
    const files = found && provider ? provider.resolveFiles(found.updateInfo) : []
    return {
      version: found?.isUpdateAvailable ? found.updateInfo.version : null,
      notes: found?.updateInfo.releaseNotes,
      files: files.map((file) => [file.url.href, file.info.sha512]),
    }
  }

  test('finds the update for each platform that the license covers, with its digests', async () => {
    await release('3.0.1', 11)
    const { key } = await makeKey()
    const sha512 = Buffer.from(digests.sha512, 'hex').toString('base64')
    const { files, ...found } = await check('1.0.0', 'win32', key)
    expect(found).toEqual({ version: '2.0.0', notes })
    expect(files[0]).toEqual(['https://example.com/atlas-2.0.0-x64.exe?a=1&b=2', sha512])
    for (const [platform, name] of [
      ['darwin', 'atlas-2.0.0.dmg'],
      ['linux', 'atlas-2.0.0.AppImage'],
    ] as const)
      expect((await check('1.0.0', platform, key)).files).toEqual([
        [`https://example.com/${name}?a=1&b=2`, sha512],
      ])
    expect((await check('2.0.0', 'win32', key)).version).toBeNull()
    await expect(check('1.0.0', 'win32')).rejects.toMatchObject({
      code: 'ERR_UPDATER_CHANNEL_FILE_NOT_FOUND',
    })
  })
})

test("answers Tauri's updater with a signed artifact, or with nothing", async () => {
  await open()
  const { status, text } = await read('tauri/stable/windows/x86_64/1.0.0')
  expect([status, JSON.parse(text)]).toEqual([
    200,
    {
      ...{ version: '2.0.0', notes, pub_date: on.clock.inDays(0), signature: 'tauri-windows' },
      url: 'https://example.com/atlas-2.0.0-x64.exe?a=1&b=2',
    },
  ])
  expect(JSON.parse((await read('tauri/stable/linux/aarch64/1.0.0')).text).signature).toBe('tauri-linux')
  expect(JSON.parse((await read('tauri/stable/darwin/aarch64/1.0.0')).text).signature).toBe('ed25519')
  // No artifact for it is signed.
  for (const path of [
    'stable/linux/x86_64/1.0.0',
    'stable/windows/x86_64/2.0.0',
    'beta/windows/x86_64/1.0.0',
  ]) {
    expect(await read(`tauri/${path}`)).toMatchObject({ status: 204, text: '' })
  }
})

test('names versions without leading zeros for updaters that read semantic versions', async () => {
  await open()
  await release('2.010.00', 0)
  const version = '2.10.0'
  expect(parse((await read('electron/latest.yml')).text)).toMatchObject({ version })
  expect(JSON.parse((await read('tauri/stable/windows/x86_64/1.0.0')).text)).toMatchObject({ version })
  expect((await read(`tauri/stable/windows/x86_64/${version}`)).status).toBe(204)
  expect(versionsIn((await read('velopack/releases.stable.json')).text)[0]).toBe(version)
})

test('writes an appcast with signed items alone, and notes that cannot end their element', async () => {
  await open()
  await release('2.5.0', 0, {
    artifacts: [file('macos', 'arm64', 'atlas-2.5.0.dmg')],
    security: { severity: 'critical', affects: [{ before: '2.5.0' }], summary: 'A file runs code' },
  })
  const { status, text } = await read('sparkle/stable.xml')
  expect(status).toBe(200)
  const items = parseXml(text).element('channel').getElements('item')
  const valuesOf = (name: string) => items.map((item) => item.elementValueOrEmpty(name))
  expect(valuesOf('sparkle:version')).toEqual(['20', '1.0.0'])
  expect(valuesOf('sparkle:shortVersionString')).toEqual(['2.0.0', '1.0.0'])
  expect(valuesOf('description')).toEqual([notes, notes])
  expect(valuesOf('pubDate').map((date) => new Date(date).toISOString())).toEqual(
    items.map(() => on.clock.inDays(0)),
  )
  expect(items[0]?.element('enclosure').attributes).toEqual({
    ...{ url: 'https://example.com/atlas-2.0.0.dmg?a=1&b=2', length: '1000' },
    ...{ type: 'application/octet-stream', 'sparkle:edSignature': 'ed25519' },
  })
})

test('lists packages for Velopack that have a SHA-1, and leads to their files', async () => {
  await open()
  const { text } = await read('velopack/releases.stable.json?os=win&arch=x64&id=Atlas&localVersion=1.0.0')
  expect(JSON.parse(text).Assets).toEqual(
    ['Full', 'Delta'].map((Type) => ({
      ...{ PackageId: 'Atlas', Version: '2.0.0', Type, FileName: `Atlas-2.0.0-${Type.toLowerCase()}.nupkg` },
      ...{ SHA1: 'EF'.repeat(20), SHA256: 'CD'.repeat(32), Size: 1000, NotesMarkdown: notes },
    })),
  )
  expect(versionsIn((await read('velopack/releases.stable.json')).text)).toEqual([
    '2.0.0',
    '2.0.0',
    '1.0.0',
    '1.0.0',
  ])
  await release('2.0.1', 0, {
    artifacts: [
      { ...file('windows', 'x64', 'Größe.nupkg', digests), url: 'https://example.com/Größe.nupkg' },
      file('windows', 'x64', 'Again.nupkg', digests),
    ],
  })
  const { Assets } = JSON.parse((await read('velopack/releases.stable.json')).text)
  expect(Assets.slice(0, 2)).toMatchObject([{ NotesMarkdown: notes }, { NotesMarkdown: '' }])
  expect((await read('velopack/Größe.nupkg')).headers.location).toBe(
    'https://example.com/Gr%C3%B6%C3%9Fe.nupkg',
  )
  for (const query of ['os=osx', 'os=win&os=osx', 'os=win&arch=x64&arch=x86'])
    expect(versionsIn((await read(`velopack/releases.stable.json?${query}`)).text)).toEqual([])
  const { status, headers } = await read('velopack/Atlas-2.0.0-full.nupkg')
  expect([status, headers.location]).toEqual([302, 'https://example.com/Atlas-2.0.0-full.nupkg?a=1&b=2'])
  expect((await read('velopack/Atlas-3.0.0-full.nupkg')).status).toBe(404)
})

describe('a license', () => {
  const listed = async (headers: Record<string, string>) => {
    const { status, text, headers: sent } = await read('json/stable', headers)
    expect(sent['cache-control']).toBe('private, no-store')
    return status === 200
      ? JSON.parse(text).releases.map(({ version }: { version: string }) => version)
      : status
  }

  test('opens the feeds for what it covers, by its key, a session or a remembered sign-in', async () => {
    const { key } = await makeKey()
    expect(await listed({})).toBe(404)
    expect(await listed(by(key))).toEqual(['2.0.0', '1.0.0'])
    const other = await makeApp(owner, 'Other')
    expect(await listed(by(single<{ key: string }>(await makeLicenses(on, owner, other)).key))).toBe(404)
    const body = { appId: app.appId, secret: app.appSecret, version: '1.0.0' }
    const start = async () => (await on.call('POST', '/client/init', { body })).json.data.session
    const token = await start()
    const asProgram = { token, headers: { 'keyward-app': app.appId } }
    expect(await listed({ authorization: `Bearer ${token}` })).toBe(404)
    const sent = { licenseKey: key, hwid: 'pc-1', remember: true }
    const { deviceToken } = (await on.call('POST', '/client/license', { ...asProgram, body: sent })).json.data
    on.clock.advance(12 * day)
    const again = await start()
    const renewed = await on.call('POST', '/client/license', { ...asProgram, token: again, body: sent })
    // The session says which version runs: there is nothing newer that the license covers.
    expect(await listed({ authorization: `Bearer ${again}` })).toEqual(['2.0.0'])
    expect(await listed(by(key))).toEqual(['2.0.0', '1.0.0'])
    await on.database.db.updateTable('licenses').set({ updates_for_days: 20 }).execute()
    expect(await listed(by(key))).toEqual(['3.0.0', '2.0.0', '1.0.0'])
    // The second sign-in has replaced the first token.
    expect(await listed({ authorization: `Bearer ${deviceToken}` })).toBe(404)
    const remembered = { authorization: `Bearer ${renewed.json.data.deviceToken}` }
    for (let times = 0; times < 2; times += 1)
      expect(await listed(remembered)).toEqual(['3.0.0', '2.0.0', '1.0.0'])
    expect((await read('json/stable?version=1.0.0', by(key))).text).not.toContain('"3.0.0"')
  })

  test('that is banned opens nothing, and one that has ended what was out before and security fixes', async () => {
    const license = await makeKey({ updates_for_days: null })
    await owner.call('PUT', `/licenses/${license._id}`, { expiresAt: on.clock.inDays(5) })
    on.clock.advance(12 * day)
    expect(await listed(by(license.key))).toEqual(['2.0.0', '1.0.0'])
    const security = { severity: 'high', affects: [{ before: '3.0.1' }], summary: 'A file runs code' }
    const { _id } = await release('3.0.1', 0, { security })
    expect(await listed(by(license.key))).toEqual(['3.0.1', '2.0.0', '1.0.0'])
    await owner.call('POST', `/releases/${_id}/withdraw`)
    expect(await listed(by(license.key))).toEqual(['2.0.0', '1.0.0'])
    await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`)
    expect(await listed(by(license.key))).toBe(404)
  })

  test('never gets what a longer one does, also where the first hundred releases are the same', async () => {
    const [wide, narrow] = [await makeKey({ updates_for_days: null }), await makeKey({ updates_for_days: 5 })]
    await insertMany(100, () => ({}))
    on.clock.advance(8 * day)
    await release('3.9.0', 0)
    const newest = async (key: string) => parse((await read('electron/latest.yml', by(key))).text).version
    expect([await newest(wide.key), await newest(narrow.key)]).toEqual(['3.9.0', '2.0.0'])
  })

  test('gives its feed where all are public too, and a wrong key counts', async () => {
    const { key } = await makeKey()
    on.clock.advance(12 * day)
    await open()
    expect(await listed(by(key))).toEqual(['2.0.0', '1.0.0'])
    expect(JSON.parse((await read('json/stable')).text).releases).toHaveLength(3)
    const wrong = () =>
      Promise.all(Array.from({ length: 60 }, () => read('json/stable', by('ABCDE-FGHIJ-KLMNP-QRSTU'))))
    expect((await wrong()).map(({ status }) => status)).toContain(200)
    await wrong()
    expect((await read('json/stable', by(key))).status).toBe(429)
    expect((await read('json/stable')).status).toBe(200)
  })
})

test('a withdrawn release is in no feed from then on, on any node, also for who has read it before', async () => {
  await open()
  const { _id } = await release('3.1.0', 0, {
    artifacts: filesOf('3.1.0').map((one) => ({ ...one, signature: 'signed' })),
  })
  const nodes = [on.server]
  if (on.database.dialect === 'postgres') {
    const { config, database, clock, seal } = on
    nodes.push(await buildApp({ config, database, clock, seal, consoleDir: '', logLevel: 'silent' }))
  }
  const paths = [
    ...['', '-mac', '-linux', '-linux-arm64'].map((platform) => `electron/latest${platform}.yml`),
    ...['windows/x86_64', 'darwin/aarch64', 'linux/x86_64'].map((target) => `tauri/stable/${target}/1.0.0`),
    ...[
      'sparkle/stable.xml',
      'velopack/releases.stable.json',
      'velopack/Atlas-3.1.0-full.nupkg',
      'json/stable',
    ],
  ]
  const tags = nodes.map(() => new Map<string, string>())
  const isIn = async (node: number, path: string) => {
    const headers = { 'if-none-match': tags[node]?.get(path) ?? '' }
    const answer = await nodes[node]?.inject({ url: `/api/updates/${app.appId}/${path}`, headers })
    tags[node]?.set(path, String(answer?.headers.etag))
    return answer?.statusCode === 304 || `${answer?.body} ${answer?.headers.location}`.includes('3.1.0')
  }
  const shown = async () => {
    const found = []
    for (const node of nodes.keys()) for (const path of paths) if (await isIn(node, path)) found.push(path)
    return found
  }
  try {
    expect(await shown()).toEqual(nodes.flatMap(() => paths))
    await owner.call('POST', `/releases/${_id}/withdraw`)
    expect(await shown()).toEqual([])
  } finally {
    await nodes[1]?.close()
  }
})

test('lists as many of the newest releases as fit into 128 KiB, with notes of any characters', async () => {
  await open()
  const old = file('windows', 'arm', 'old.exe')
  await release('3.9.0', 0, { artifacts: [old, ...filesOf('3.9.0')] })
  const long = '<&"\'\t\n]]>\ufffeö\u{1f600}'.repeat(1600)
  await insertMany(30, (version) => ({ notes: long, artifacts: JSON.stringify(filesOf(version)) }))
  await release('4.30.0', 0, { artifacts: [] })
  const [electron, tauri, sparkle, velopack, json] = await Promise.all(
    [
      ...['electron/latest.yml', 'tauri/stable/windows/x86_64/1.0.0', 'sparkle/stable.xml'],
      ...['velopack/releases.stable.json', 'json/stable'],
    ].map(async (path) => {
      const { text } = await read(path)
      expect([path, Buffer.byteLength(text) < 129 * 1024]).toEqual([path, true])
      return text
    }),
  )
  expect(parse(electron ?? '')).toMatchObject({ version: '4.29.0', releaseNotes: long })
  expect(JSON.parse(tauri ?? '')).toMatchObject({ version: '4.29.0', notes: long })
  const items = parseXml(sparkle ?? '')
    .element('channel')
    .getElements('item')
  expect(items.map((item) => item.elementValueOrEmpty('sparkle:version'))).toEqual(
    [29, 28].map((minor) => `4.${minor}.0`),
  )
  expect(items[0]?.elementValueOrEmpty('description')).toBe(long.replaceAll('\ufffe', ''))
  expect(versionsIn(velopack ?? '')).toEqual(['4.29.0', '4.29.0'])
  const { releases } = JSON.parse(json ?? '')
  expect(releases.slice(0, 2)).toMatchObject([
    { version: '4.30.0', artifacts: [] },
    { version: '4.29.0', notes: long },
  ])
  expect(releases.at(-1)).toMatchObject({ version: '3.9.0', notes: null, artifacts: [old] })
})

test('nothing else is there, and a paused app shows nothing', async () => {
  await open()
  for (const path of [
    'electron/latest.json',
    'sparkle/stable',
    'velopack/releases.json',
    'json',
    'rpm/stable',
    'sparkle/%3Cb%3E.xml',
    'velopack/releases.%3Cb%3E.json',
  ]) {
    expect((await read(path)).status).toBe(404)
  }
  await owner.call('PUT', `/apps/${app._id}`, { paused: true })
  expect((await read('json/stable')).status).toBe(404)
})

/** Each call has an address of its own, so that no limit of addresses is reached. */
let sent = 0
const nextAddress = () => `10.${++sent >> 16}.${(sent >> 8) % 256}.${sent % 256}`

/** What each of 50 calls takes, while four callers send something else, in milliseconds. */
async function timesBeside(call: () => Promise<unknown>, other: () => Promise<unknown>): Promise<number[]> {
  const took: number[] = []
  let isOver = false
  const others = times(4, async () => {
    while (!isOver) {
      await other()
      await turn()
    }
  })
  try {
    while (took.length < 50) {
      const begun = performance.now()
      await call()
      took.push(performance.now() - begun)
    }
  } finally {
    isOver = true
    await others
  }
  return took
}

test.skipIf(!isFull)(
  'a flood of requests for feeds from many addresses delays a check at most three times as long as one of checks',
  async () => {
    await open()
    const { key } = await makeKey()
    const program = await startProgram(on, app)
    for (let from = 0; from < 200; from += 50) {
      await insertMany(
        50,
        (version) => ({ notes: notes.repeat(200), artifacts: JSON.stringify(filesOf(version)) }),
        from,
      )
    }
    expect((await program.call('POST', '/license', { licenseKey: key, hwid: 'pc-1' })).status).toBe(200)
    const check = async () => {
      const { status } = await program.call('GET', '/session', undefined, { from: nextAddress() })
      expect(status).toBe(200)
    }
    const paths = [
      'electron/latest.yml',
      'tauri/stable/windows/x86_64/1.0.0',
      'sparkle/stable.xml',
      'json/stable',
    ]
    const feed =
      (headers: Record<string, string>, query = () => '') =>
      () =>
        on.server.inject({
          ...{
            url: `/api/updates/${app.appId}/${paths[sent % 4]}${query()}`,
            headers,
            remoteAddress: nextAddress(),
          },
        })
    const floods = {
      checks: check,
      'public feeds': feed({}),
      'public feeds of many versions': feed({}, () => `?version=4.${sent % 199}.1`),
      'feeds by a license': feed(by(key)),
      'feeds by wrong keys': feed(by('ABCDE-FGHIJ-KLMNP-QRSTU')),
    }
    const took = Object.keys(floods).map((): number[] => [])
    // They take turns, so that what else the machine does slows all of them.
    for (let turns = 0; turns < 20; turns += 1) {
      for (const [at, flood] of Object.values(floods).entries())
        took[at]?.push(...(await timesBeside(check, flood)))
    }
    const medians = took.map((all) => all.toSorted((one, two) => one - two)[all.length / 2] ?? 0)
    console.log('A check beside four callers takes, in ms:', Object.keys(floods).join(), medians.join())
    const [checks = 0, ...others] = medians
    // A feed by a license has three reads more than a check, and a list is longer than its answer.
    for (const median of others) expect(median).toBeLessThan(3 * checks)
  },
)

describe('a flood', () => {
  const small = serverForAll({ RATE_LIMITS: 'on' }, { programRequestsPerMinute: 5 })
  test('of requests for feeds is refused like one of other calls of programs', async () => {
    const send = () => small.server.inject({ url: '/api/updates/ABCDEFGH/json/stable' })
    const answers = await Promise.all(Array.from({ length: 8 }, send))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404, 404, 404, 429, 429, 429])
    expect(answers.at(-1)?.headers['retry-after']).toMatch(/^\d+$/)
  })
})

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { sdkVersion } from '@keyward/contract/sdk-version'
import { expect, test } from 'vitest'
import { escapeHtml } from '../src/http/docs-frame.ts'
import { readReleases } from '../src/http/sdk-page.ts'
import { serverForAll } from './fixtures.ts'

const on = serverForAll()
const get = (url: string, host = 'localhost') => on.server.inject({ url, headers: { host } })
const folder = new URL('../../../sdks/releases/', import.meta.url)
const wheel: string = '../../../scripts/wheel.mjs'
const { unzip } = await import(wheel)

test('every released file is served unchanged, for ever, with the hash that the page shows', async () => {
  const { payload: page } = await get('/sdk/')
  for (const { version, files, documents } of readReleases()) {
    const served = [...files, ...documents]
    const packed = unzip(readFileSync(new URL(`${version}.zip`, folder)))
    expect(served.map(({ name }) => name).sort()).toEqual(Object.keys(packed).sort())
    for (const { name, sha256 } of served) {
      const { statusCode, rawPayload, headers } = await get(`/sdk/${version}/${name}`)
      expect(statusCode).toBe(200)
      expect(createHash('sha256').update(rawPayload).digest('hex')).toBe(sha256)
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
      const isText = name.endsWith('.md')
      expect(headers['content-disposition']).toBe(isText ? undefined : `attachment; filename="${name}"`)
      if (isText) expect(headers['content-type']).toBe('text/plain; charset=utf-8')
      expect(page).toContain(sha256)
      expect(page).toContain(`href="/sdk/${version}/${name}"`)
    }
  }
})

test('the list of digests is served, and not for ever', async () => {
  const { payload, headers } = await get('/sdk/SHA256SUMS')
  expect(payload).toBe(readFileSync(new URL('SHA256SUMS', folder), 'utf8'))
  expect(headers['cache-control']).toBeUndefined()
})

test('each version since 1.3.0 has the README of each language, its protocol and its conformance cases', async () => {
  const { payload: page } = await get('/sdk/')
  const before = ['1.1.0', '1.2.0', '1.2.1']
  for (const { version, documents } of readReleases().filter((each) => !before.includes(each.version))) {
    const names = ['README-typescript.md', 'README-python.md', 'README-cpp.md', 'README-csharp.md']
    const others = ['client-protocol.md', `keyward-vectors-${version}.zip`]
    expect(documents.map(({ name }) => name)).toEqual([...names, ...others])
    for (const { name, title } of documents) {
      expect(page).toContain(`<a href="/sdk/${version}/${name}">${escapeHtml(title)}</a>`)
    }
  }
})

test('the newest release is the version that the console installs', () => {
  expect(readReleases()[0]?.version).toBe(sdkVersion)
})

test('the page shows the install command for the address of this server', async () => {
  const [{ version } = { version: '' }] = readReleases()
  const file = `/sdk/${version}/keyward-sdk-${version}.tgz`
  expect((await get('/sdk/', 'localhost:3000')).payload).toContain(`npm install http://localhost:3000${file}`)
  expect((await get('/sdk')).headers.location).toBe('/sdk/')
})

test('the page names every language of the newest version, with its command and what it needs', async () => {
  const { payload } = await get('/sdk/', 'localhost:3000')
  const base = `http://localhost:3000/sdk/${sdkVersion}`
  const expected = {
    'TypeScript and JavaScript': [`npm install ${base}/keyward-sdk-${sdkVersion}.tgz`, 'Needs Node 18'],
    Python: [`pip install ${base}/keyward-${sdkVersion}-py3-none-any.whl`, 'Needs Python 3.9'],
    'C++': [`curl -fO ${base}/keyward.hpp`, 'Needs C++17'],
    'C#': [`curl -fO ${base}/Keyward.cs`, 'Needs .NET Standard 2.0'],
  }
  const newest = payload.slice(payload.indexOf('id="newest"'), payload.indexOf('id="earlier"'))
  const articles = newest.split('<article>').slice(1)
  expect(articles).toHaveLength(4)
  for (const [language, parts] of Object.entries(expected)) {
    const article = articles.find((one) => one.includes(`<h3>${language} `))
    for (const part of parts) expect(article, language).toContain(part)
  }
})

test('the page never names an address that a stranger put into the Host header', async () => {
  for (const host of ['evil.example', 'a"><b>.example']) {
    const { payload, statusCode } = await get('/sdk/', host)
    expect(statusCode).toBe(400)
    expect(payload).not.toContain('.example')
  }
})

test('nothing else in the folder is served', async () => {
  for (const path of [
    '/sdk/index.json',
    '/sdk/1.1.0.zip',
    '/sdk/1.1.0/index.json',
    '/sdk/..%2fvectors/x.zip',
    '/sdk/1.1.0',
    '/sdk/1.1.0/',
    '/sdk/..%2findex.json',
    '/sdk/9.9.9/x.tgz',
  ]) {
    expect([path, (await get(path)).statusCode]).toEqual([path, 404])
  }
})

test('the protocol is a page whose links work', async () => {
  const { payload, statusCode } = await get('/docs/client-protocol')
  expect(statusCode).toBe(200)
  expect(payload).toContain('Ed25519')
  expect(payload).not.toMatch(/href="[^"]*\.md/)
  for (const [, id] of payload.matchAll(/href="#([^"]+)"/g)) expect(payload).toContain(`id="${id}"`)
  for (const link of [
    '/sdk/',
    '/docs/client-protocol',
    '/docs/licensing',
    '/docs/migration',
    '/docs/automation',
    '/docs/api-keys',
    '/docs/events',
  ]) {
    expect((await get('/docs')).payload).toContain(`href="${link}"`)
  }
})

test('the recipes of licensing are a page whose links work', async () => {
  const { payload, statusCode } = await get('/docs/licensing')
  expect(statusCode).toBe(200)
  expect(payload).toContain('Floating')
  expect(payload).not.toMatch(/href="[^"]*\.md/)
})

test.each([
  ['automation', 'Standard Webhooks'],
  ['migration', 'Let&#39;s Encrypt'],
  ['compatibility', 'invalidver'],
  ['api-keys', 'kwa_'],
  ['events', 'license.banned'],
])('the guide /docs/%s is a page whose links work', async (name, text) => {
  const { payload, statusCode } = await get(`/docs/${name}`)
  expect(statusCode).toBe(200)
  expect(payload).toContain(text)
  expect(payload).not.toMatch(/href="[^"]*\.md/)
  for (const [, id] of payload.matchAll(/href="#([^"]+)"/g)) expect(payload).toContain(`id="${id}"`)
  for (const [, path] of payload.matchAll(/href="(\/[^"#]*)/g))
    if (path !== '/') expect([path, (await get(path!)).statusCode]).toEqual([path, 200])
})

// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { limits, messageDefaults } from '@keyward/contract'
import { describe, expect, test } from 'vitest'
import {
  activateKey,
  makeLicenses,
  refusal,
  registerUser,
  single,
  startProgram,
  wrongFields,
} from '../actors.ts'
import { appForEach, premiumOwnerForAll, serverForAll } from '../fixtures.ts'

const on = serverForAll()
const owner = premiumOwnerForAll(on)
const app = appForEach(owner)
const path = (locale?: string) =>
  `/apps/${app._id}/error-messages${locale === undefined ? '' : `?locale=${encodeURIComponent(locale)}`}`
const change = (texts: object, locale?: string) => owner.call('PUT', path(locale), texts)
const texts = async (locale?: string) => (await owner.call('GET', path(locale))).json.data

/** The text that a program in a language gets for a wrong key. */
async function refused(locale: string | undefined) {
  const program = await startProgram(on, app, locale === undefined ? {} : { locale })
  const answer = await program.call('POST', '/license', { licenseKey: 'no such key' })
  expect(refusal(answer)).toBe('keyNotFound')
  return answer.json.message
}

describe('the owner', () => {
  test('adds texts in a language, which leave the default and other languages alone', async () => {
    await change({ keyUsed: 'Taken!' })
    const { json } = await change({ keyUsed: 'Vergeben', keyBanned: 'Gesperrt' }, 'de')
    const german = { ...messageDefaults, keyUsed: 'Vergeben', keyBanned: 'Gesperrt' }
    expect(json.data).toEqual({ errorMessages: german, changed: ['keyUsed', 'keyBanned'], locales: ['de'] })
    expect(await texts('de')).toEqual(json.data)
    expect(await texts()).toEqual({
      errorMessages: { ...messageDefaults, keyUsed: 'Taken!' },
      changed: ['keyUsed'],
      locales: ['de'],
    })
    expect(await texts('fr')).toMatchObject({ changed: [], errorMessages: { keyUsed: 'Taken!' } })
  })

  test('writes a tag in any spelling and finds the same texts', async () => {
    await change({ keyUsed: 'Usada' }, 'PT_br')
    expect(await texts('pt-BR')).toMatchObject({ changed: ['keyUsed'], locales: ['pt-BR'] })
  })

  test('sees what a regional language takes from the general one', async () => {
    await change({ keyUsed: 'Vergeben', keyBanned: 'Gesperrt' }, 'de')
    await change({ keyBanned: 'Gsperrt' }, 'de-AT')
    expect(await texts('de-AT')).toMatchObject({
      changed: ['keyBanned'],
      errorMessages: { keyUsed: 'Vergeben', keyBanned: 'Gsperrt', userBanned: messageDefaults.userBanned },
    })
  })

  test('removes one text with null, the last one with its language, and all with DELETE', async () => {
    await change({ keyUsed: 'Vergeben', keyBanned: 'Gesperrt' }, 'de')
    expect((await change({ keyUsed: null }, 'de')).json.data).toMatchObject({
      changed: ['keyBanned'],
      errorMessages: { keyUsed: messageDefaults.keyUsed },
    })
    expect((await change({ keyBanned: null }, 'de')).json.data.locales).toEqual([])
    await change({ keyUsed: 'Taken!' })
    await change({ keyUsed: 'Vergeben' }, 'de')
    expect((await owner.call('DELETE', path('de'))).json.data).toMatchObject({
      errorMessages: { keyUsed: 'Taken!' },
      locales: [],
    })
    expect((await change({ keyUsed: null })).json.data.errorMessages).toEqual(messageDefaults)
  })

  test('rejects a tag that names no language, and a text that is too long', async () => {
    for (const locale of ['', 'C', 'deutsch ist schön', `de-${'x'.repeat(9)}`]) {
      expect(wrongFields(await change({ keyUsed: 'x' }, locale))).toEqual(['locale'])
      expect(wrongFields(await owner.call('GET', path(locale)))).toEqual(['locale'])
      expect(wrongFields(await owner.call('DELETE', path(locale)))).toEqual(['locale'])
    }
    expect(wrongFields(await change({ keyUsed: 'x'.repeat(301) }, 'de'))).toEqual(['keyUsed'])
    expect((await texts()).locales).toEqual([])
  })

  test('fills the limit of languages with concurrent requests and never exceeds it', async () => {
    const tags = Array.from({ length: limits.messageLocalesMax + 4 }, (_, at) => `en-x-l${at}`)
    const answers = await Promise.all(tags.map((tag) => change({ keyUsed: tag }, tag)))
    const failed = answers.filter(({ status }) => status !== 200)
    expect(failed.map(refusal)).toEqual(Array.from({ length: 4 }, () => 'locales_full'))
    const { locales } = await texts()
    expect(locales).toHaveLength(limits.messageLocalesMax)
    expect((await change({ keyBanned: 'still possible' }, locales[0])).status).toBe(200)
  })

  test('loses no text when languages change concurrently', async () => {
    const keys = ['keyUsed', 'keyBanned', 'userBanned', 'pausedApp', 'unTooShort']
    await Promise.all(keys.map((key) => change({ [key]: `neu ${key}` }, 'de')))
    expect((await texts('de')).changed.toSorted()).toEqual(keys.toSorted())
  })
})

describe('a program', () => {
  test.each([
    ['de-AT', 'nicht da'],
    ['de', 'nicht gefunden'],
    ['de-CH', 'nicht gefunden'],
    ['DE_ch.UTF-8', 'nicht gefunden'],
    ['fr', 'Not here'],
    ['C', 'Not here'],
    ['../../etc/passwd', 'Not here'],
    ["' or 1=1 --", 'Not here'],
    [undefined, 'Not here'],
  ])('in %s gets the closest text', async (locale, text) => {
    await change({ keyNotFound: 'Not here' })
    await change({ keyNotFound: 'nicht gefunden' }, 'de')
    await change({ keyNotFound: 'nicht da' }, 'de-AT')
    expect(await refused(locale)).toBe(text)
  })

  test('gets a text that its language lacks from the more general one', async () => {
    await change({ keyNotFound: 'nicht gefunden' }, 'de')
    await change({ keyUsed: 'Vergeben' }, 'de-AT')
    expect(await refused('de-AT')).toBe('nicht gefunden')
  })

  test('keeps the language from init through sign-in, refusal and a new text', async () => {
    await change({ loggedInMsg: 'Willkommen', userBanned: 'Gesperrt: {reason}' }, 'de')
    const { user } = await registerUser(on, owner, app, 'alice')
    const program = await startProgram(on, app, { locale: 'de-DE' })
    const signIn = { username: 'alice', password: 'swordfish' }
    expect((await program.call('POST', '/login', signIn)).json.message).toBe('Willkommen')
    await owner.call('PATCH', `/clients/${user._id}/toggle-ban`, { reason: 'fraud' })
    expect((await program.call('GET', '/session')).json.message).toBe('Gesperrt: fraud')
    await change({ userBanned: 'Raus' }, 'de')
    expect((await program.call('GET', '/session')).json.message).toBe('Raus')
    const english = await startProgram(on, app)
    expect((await english.call('POST', '/login', signIn)).json.message).toBe(messageDefaults.userBanned)
  })

  test('gets its language before a sign-in, also for a paused app and a bad init', async () => {
    await change({ pausedApp: 'Pause', appDisabled: 'Aus', sessionUnauthed: 'Niemand da' }, 'de')
    const program = await startProgram(on, app, { locale: 'de' })
    expect((await program.call('GET', '/session')).json.message).toBe('Niemand da')
    await owner.call('PUT', `/apps/${app._id}`, { paused: true })
    expect((await program.call('GET', '/session')).json.message).toBe('Pause')
    const body = { appId: app.appId, secret: app.appSecret, version: '1.0.0', locale: 'de' }
    expect((await on.call('POST', '/client/init', { body })).json.message).toBe('Pause')
    const wrong = await on.call('POST', '/client/init', { body: { ...body, secret: 'wrong' } })
    expect(wrong.json.message).toBe('Aus')
  })

  test('names its language in a validate call, which keeps none', async () => {
    await change({ keyBanned: 'Gesperrt', keyNotFound: 'nicht gefunden' }, 'de')
    const { license } = await activateKey(on, owner, app)
    await owner.call('PATCH', `/licenses/${license._id}/toggle-ban`)
    const validate = async (licenseKey: string, locale?: string) =>
      (await on.call('POST', '/client/validate', { body: { appId: app.appId, licenseKey, locale } })).json
    expect(await validate(license.key, 'de-LI')).toMatchObject({
      message: 'Gesperrt',
      data: { code: 'keyBanned' },
    })
    expect((await validate('no such key', 'de')).message).toBe('nicht gefunden')
    expect((await validate(license.key)).message).toBe(messageDefaults.keyBanned)
  })

  test('is signed in with every language tag that fits into its session', async () => {
    const longest = 'de-1996-abcde-fghij-klmno-pqrst-uvw'
    const program = await startProgram(on, app, { locale: longest })
    const { key } = single(await makeLicenses(on, owner, app))
    expect((await program.call('POST', '/license', { licenseKey: key })).status).toBe(200)
    expect((await program.call('GET', '/session')).status).toBe(200)
  })
})

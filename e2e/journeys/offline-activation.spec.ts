import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import { type Configuration, Tally } from '../program.ts'
import { dialog, enter, expectToast, Vendor } from '../steps.ts'

test('a machine that is never online is activated with a file and freed with a code', {
  tag: '@full',
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  const other = await vendor.createApp('Other')
  const [license] = await vendor.createLicenses(app)
  const home = await mkdtemp(join(tmpdir(), 'keyward-offline-'))
  const text = join(home, 'novel.md')
  await writeFile(text, 'four words of text\n')
  const keys = await request.get(`/api/client/apps/${app.appId}/keys`)
  const offline: Configuration = {
    // Nothing listens there.
    baseUrl: 'http://127.0.0.1:9',
    appId: app.appId,
    secret: app.appSecret,
    publicKeys: JSON.stringify((await keys.json()).data.keys),
    home,
  }
  const run = (...args: string[]) => new Tally(offline, 'never-online', ...args)
  const ask = async (key: string, of = offline) => {
    const tally = new Tally(of, 'never-online', '--offline-request', key)
    await tally.expectEnd(0, 'KWR1-')
    return tally.text
  }

  await enter(page, vendor, `/apps/${app._id}?tab=settings`)
  const card = page.getByRole('main')
  await expect(card).toContainText('No offline activations')
  const open = page.getByRole('button', { name: 'Activate Offline' })

  await test.step('wrong requests show what is wrong on the field, and take nothing', async () => {
    const foreign = await ask(license!.key, { ...offline, appId: other.appId, home: `${home}-other` })
    const unknown = await ask('NO-SUCH-KEY', { ...offline, home: `${home}-unknown` })
    await open.click()
    const form = dialog(page, 'Activate Offline')
    const field = form.getByLabel('Request', { exact: true })
    const rejected: [string, string][] = [
      ['', 'Request is required'],
      ['KWR1-HELLO', 'mistyped or incomplete'],
      [foreign, 'made for another app'],
      [unknown, 'has no such license key'],
      ['KWD1-0000-0000-0000-0000', 'This is a deactivation code'],
    ]
    for (const [wrong, message] of rejected) {
      await field.fill(wrong)
      await form.getByRole('button', { name: 'Create File' }).click()
      await expect(form.getByRole('alert')).toContainText(message)
      await expect(field).toHaveAttribute('aria-invalid', 'true')
    }
    await expectAccessible(page, 'activate offline', { within: '[role="dialog"]' })
    await page.keyboard.press('Escape')
    await expect(card).toContainText('No offline activations')
  })

  const file = join(home, 'tally.kwa')
  await test.step('the request of the program becomes a file', async () => {
    const text = await ask(license!.key)
    await open.click()
    const form = dialog(page, 'Activate Offline')
    await form.getByLabel('Request', { exact: true }).fill(text.toLowerCase())
    await expect(form).toContainText(license!.key)
    await form.getByLabel('Days').fill('0')
    await form.getByRole('button', { name: 'Create File' }).click()
    await expect(form.getByRole('alert')).toContainText('Must be at least 1 day')
    await form.getByLabel('Days').fill('7')
    await form.getByRole('button', { name: 'Create File' }).click()
    const ready = dialog(page, 'The File Is Ready')
    await expectAccessible(page, 'the file', { within: '[role="dialog"]' })
    const saved = page.waitForEvent('download')
    await ready.getByRole('button', { name: 'Download' }).click()
    const download = await saved
    expect(download.suggestedFilename()).toMatch(/^activation-[0-9a-f]{8}\.kwa$/)
    await download.saveAs(file)
    expect(await readFile(file, 'utf8')).toBe(await ready.getByRole('textbox', { name: 'File' }).inputValue())
    await ready.getByRole('button', { name: 'Done' }).click()
    await expect(page.getByRole('list', { name: 'Offline activations' })).toContainText('Active')
    await expectAccessible(page, 'app with an activation')
  })

  await test.step('the program runs with it while no server can be reached', async () => {
    await run(text).expectEnd(1, 'Tally needs a license')
    await run('--activate', file).expectEnd(0, 'Activated until')
    await run(text).expectEnd(0, 'novel.md')
    await new Tally(offline, 'another-machine', text).expectEnd(1, 'Tally needs a license')
  })

  await test.step('a ban says until when the program goes on', async () => {
    await page.getByRole('link', { name: 'Unnamed' }).click()
    await expect(card).toContainText('Can run offline until')
    await expect(card).toContainText('runs offline until')
    await page.getByRole('button', { name: 'Actions for Unnamed' }).click()
    await page.getByRole('menuitem', { name: 'Ban', exact: true }).click()
    const question = dialog(page, /^Ban .+\?$/)
    await expect(question).toContainText('can go on running without a connection until')
    await question.getByRole('button', { name: 'Ban User' }).click()
    await expectToast(page, 'User Banned')
    await expect(card).toContainText('Ban takes effect by')
    await run(text).expectEnd(0, 'novel.md')
  })

  await test.step('the code that the program shows frees the device, once', async () => {
    const ended = run('--deactivate')
    await ended.expectEnd(0, 'KWD1-')
    const code = /KWD1-[\w-]+/.exec(ended.text)![0]
    await run(text).expectEnd(1, 'Tally needs a license')
    await run('--activate', file).expectEnd(1, 'does not answer the last request')
    await page.getByRole('button', { name: 'Deactivate with Code' }).click()
    const form = dialog(page, 'Deactivate with Code')
    await form.getByLabel('Code').fill('KWD1-0000-0000-0000-0000')
    await form.getByRole('button', { name: 'Free Device' }).click()
    await expect(form.getByRole('alert')).toContainText('No machine of this app has this code')
    await expectAccessible(page, 'deactivate with code', { within: '[role="dialog"]' })
    await form.getByLabel('Code').fill(code)
    await form.getByRole('button', { name: 'Free Device' }).click()
    await expectToast(page, 'Machine Deactivated')
    await expect(card).toContainText('No devices')
    await expect(page.getByRole('list', { name: 'Offline activations' })).toContainText('Deactivated')
    await page.getByRole('button', { name: 'Deactivate with Code' }).click()
    await dialog(page, 'Deactivate with Code').getByLabel('Code').fill(code)
    await page.keyboard.press('Enter')
    await expect(dialog(page, 'Deactivate with Code').getByRole('alert')).toContainText('used already')
  })
})

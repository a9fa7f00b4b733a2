import { textsTo } from '../../apps/server/test/mailed.ts'
import { expectAccessible } from '../accessibility.ts'
import { expect } from '../keyward.ts'
import { test, trustMails } from '../mailing.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  inDays,
  keyPrefix,
  openPalette,
  Program,
  readClipboard,
  shownDate,
  Vendor,
} from '../steps.ts'

test('a customer’s mail, pasted into the search, names the license, the refusal, the fix and an answer', {
  tag: ['@full', '@phone'],
}, async ({ page, request, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp('Tally')
  await vendor.call('PUT', `/apps/${app._id}`, { settings: { customerPage: true } })
  const email = 'juergen@kunde.test'
  const { licenses } = await vendor.call('POST', '/licenses', {
    ...{ app: app._id, count: 1, customer: email, expiresAt: inDays(30).toISOString() },
  })
  const program = await Program.start(request, app)
  await program.register('juergen', licenses[0], 'pc-1')
  const { body } = await program.login('juergen', 'pc-2')
  expect(body.code).toBe('hwidMismatch')

  await enter(page, vendor)
  await openPalette(page)
  const asked: string[] = []
  page.on('request', (sent) => {
    if (sent.url().includes('/api/')) asked.push(`${decodeURIComponent(sent.url())} ${sent.postData() ?? ''}`)
  })
  const key: string = licenses[0].key
  const mail = `Von: Jürgen <${email}>\nAn: ${vendor.email}\n\nGuten Tag,\nich habe einen neuen Computer und das Programm startet nicht mit meinem Schlüssel:\n> ${key.slice(0, 12)}\n> ${key.slice(12)}\nBestellnummer: R-20417\n\nGeheim: meine Tochter heißt Mathilde.`
  const pasted = JSON.stringify(`${mail}\n${' filler'.repeat(150_000)}`)
  await page.evaluate(`{
    const clipboardData = new DataTransfer()
    clipboardData.setData('text', ${pasted})
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
    document.activeElement.dispatchEvent(event)
  }`)

  const ticket = dialog(page, 'A customer’s mail')
  await expect(ticket.getByRole('link', { name: email })).toBeVisible()
  const license = ticket.getByRole('region', { name: 'License', exact: true })
  await expect(license.getByRole('link', { name: key })).toBeVisible()
  await expect(ticket.getByText('R-20417')).toBeVisible()
  const refusal = ticket.getByRole('region', { name: 'The last refusal' })
  await expect(refusal).toContainText('The device was not accepted')
  const answer = ticket.getByRole('region', { name: 'Answer' })
  await expect(answer).toContainText('Guten Tag,')
  await expect(answer).toContainText('Geben Sie unter „Geräte“ ein Gerät frei')
  await expect(answer).toContainText(`/u/${app.appId}`)
  await expectAccessible(page, 'a pasted mail')

  await refusal.getByRole('button', { name: 'Reset HWID' }).click()
  await expectToast(page, 'Changed. The program can try again.')
  await expect(answer).toContainText('Gelöst: Dieser Grund gilt nicht mehr.')
  await choose(answer, 'Language', 'English')
  await expect(answer).toContainText('Solved: this reason no longer applies.')
  await answer.getByRole('button', { name: 'Copy Answer' }).click()
  expect(await readClipboard(page)).toContain('Kind regards')
  await license.getByRole('button', { name: 'Extend License' }).click()
  await dialog(page, /^Extend/)
    .getByRole('button', { name: 'Extend License' })
    .click()
  await expectToast(page, 'License Updated')
  expect(asked.filter((sent) => /Mathilde|filler|Tochter/.test(sent))).toEqual([])
  const searched = new Set(asked.flatMap((sent) => /\/api\/[a-z]+\?.*search=[^& ]*/.exec(sent)?.[0] ?? []))
  expect(searched.size).toBe(3)
  expect((await program.login('juergen', 'pc-2')).body.success).toBe(true)
})

test('a license that a search found is extended, banned, mailed and freed of its device in one place', async ({
  page,
  request,
  mails,
  keyward,
}) => {
  const vendor = await Vendor.signUp(request)
  trustMails(keyward)
  const app = await vendor.createApp('Tally')
  const expiresAt = inDays(30).toISOString()
  const email = 'ada@engines.example'
  const { licenses } = await vendor.call('POST', '/licenses', {
    ...{ app: app._id, count: 1, customer: email, expiresAt },
  })
  const [license] = licenses
  await (await Program.start(request, app)).register('ada', license, 'engine')
  const stored = async () => (await vendor.call('GET', `/licenses/${license._id}`)).license
  await enter(page, vendor)
  await openPalette(page)
  await page.keyboard.insertText(license.key)
  await page.getByRole('option', { name: /^Extend, ban, free a device, mail the key or answer/ }).click()
  const found = dialog(page, 'A customer’s mail').getByRole('region', { name: 'License', exact: true })
  const undo = async () => {
    await page.getByRole('button', { name: 'Undo' }).click()
    await expectToast(page, 'Undone')
  }

  await found.getByRole('button', { name: 'Extend License' }).click()
  const extension = dialog(page, /^Extend/)
  await extension.getByText('+ 7 days').click()
  await expect(extension).toContainText(shownDate(inDays(37)))
  await extension.getByRole('button', { name: 'Extend License' }).click()
  await expect(page.getByText('License Updated')).toBeVisible()
  expect((await stored()).expiresAt).toBe(new Date(Date.parse(expiresAt) + 7 * 86_400_000).toISOString())
  await undo()
  expect((await stored()).expiresAt).toBe(expiresAt)

  await found.getByRole('button', { name: `Actions for ${keyPrefix(license.key)}` }).click()
  await page.getByRole('menuitem', { name: 'Ban License' }).click()
  const ban = dialog(page, 'Ban License')
  await expect(ban).toContainText(`Tally rejects ${keyPrefix(license.key)} on the next call.`)
  await ban.getByRole('button', { name: 'Ban License' }).click()
  await expect(found).toContainText('Banned')
  await undo()
  await expect(found).not.toContainText('Banned')
  expect((await stored()).banned).toBe(false)

  await expect(found).toContainText(email)
  await found.getByRole('button', { name: 'Mail Key' }).click()
  await expectToast(page, 'The key is mailed')
  await expect.poll(() => textsTo(mails, email).join()).toContain(license.key)

  await found.getByRole('button', { name: 'Free Unnamed device' }).click()
  const question = dialog(page, 'Free Unnamed device?')
  await expect(question).toContainText('This device can sign in again as long as a place is free.')
  await question.getByRole('button', { name: 'Free Device' }).click()
  await expectToast(page, 'Device Freed')
  await expect(found).toContainText('No devices')
})

import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import {
  choose,
  dialog,
  enter,
  expectToast,
  inDays,
  openPalette,
  Program,
  readClipboard,
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

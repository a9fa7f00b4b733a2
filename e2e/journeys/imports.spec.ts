import { expectAccessible } from '../accessibility.ts'
import { expect, test } from '../keyward.ts'
import {
  choose,
  dialog,
  enter,
  inDays,
  makePremium,
  moreAction,
  Program,
  row,
  rows,
  Vendor,
} from '../steps.ts'

/** What the old system stored of `ring-bearer-1`. */
const password = '$2y$10$PMVE3L.XXdURnV8LirvwY.3adQybhxo9Jb77uH8n5OzEJq6y1QCRS'

const json = (name: string, content: unknown) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(JSON.stringify(content)),
})

test('imports KeyAuth: a program signs in with the old password, and an undo keeps who was there', {
  tag: ['@full', '@phone'],
}, async ({ page, request, keyward }) => {
  const vendor = await Vendor.signUp(request)
  makePremium(keyward, vendor)
  const app = await vendor.createApp()
  const soon = String(Math.floor(Date.now() / 1000) + 30 * 86_400)
  await enter(page, vendor, '/licenses')
  await moreAction(page, 'Import Licenses')
  await expect(page).toHaveURL(/\/imports/)
  const form = dialog(page, 'New Import')
  await expectAccessible(page, 'a new import')
  await choose(form, 'System', 'KeyAuth')
  await form.getByRole('button', { name: 'Check Files' }).click()
  await expect(form.getByRole('alert')).toHaveText('Choose at least one file')
  await form.locator('input[type=file]').setInputFiles([
    json('KeyAuthUsers.json', {
      users: [
        {
          username: 'frodo',
          email: null,
          password,
          hwid: null,
          banned: null,
        },
        { username: 'sam', email: null, password, hwid: null, banned: 'chargeback' },
      ],
      subscription: [
        { user: 'frodo', subscription: 'default', expiry: soon },
        { user: 'sam', subscription: 'default', expiry: '86400' },
      ],
    }),
    json('KeyAuthKeys.json', [
      { key: 'KA-AAAA-11', level: '1', expiry: 30 },
      { key: 'KA-BBBB-22', level: '1', expiry: 0 },
    ]),
  ])
  await expect(form.getByRole('list', { name: 'Chosen files' }).getByRole('listitem')).toHaveCount(2)
  await form.getByRole('button', { name: 'Check Files' }).click()

  const question = page.getByRole('group', { name: /whether these keys are used/ })
  await question.getByLabel('Import them as unused keys').check()
  await page.getByRole('button', { name: 'Check Again' }).click()
  await page.getByRole('button', { name: 'Import 3 Rows' }).click({ trial: true })
  await expect(rows(page)).toHaveCount(4)
  await expectAccessible(page, 'a checked import')
  await expect(row(page, 'KA-BBBB-22')).toContainText('Its duration is not a number above 0')
  expect((await vendor.call('GET', '/clients')).clients).toEqual([])
  await page.getByRole('button', { name: 'Import 3 Rows' }).click()
  await expect(page.getByText('licenses and 2 end users created', { exact: false })).toBeVisible()
  await expect(rows(page)).toHaveCount(4)

  const program = await Program.start(request, app)
  const login = (username: string) => program.call('POST', '/login', { username, password: 'ring-bearer-1' })
  expect((await login('frodo')).status).toBe(200)
  expect((await login('sam')).body.code).toBe('userBanned')

  await page.getByRole('button', { name: 'Undo Import' }).click()
  await dialog(page, 'Undo the import?').getByRole('button', { name: 'Undo Import' }).click()
  await expect(page.getByText('1 row was used since and stayed', { exact: false })).toBeVisible()
  const { clients } = await vendor.call('GET', '/clients')
  expect(clients.map(({ username }: { username: string }) => username)).toEqual(['frodo'])
  await expectAccessible(page, 'an import that is undone')
})

test('imports a CSV file with the columns of an export, and reports the keys that it made', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  await vendor.call('PUT', `/apps/${app._id}`, { settings: { allowCustomLicenseKey: true } })
  await vendor.createLicenses(app, 27)
  await vendor.call('POST', '/licenses', { app: app._id, expiresAt: inDays(30), key: 'TAKEN-KEY-1' })
  await enter(page, vendor, '/imports')
  await expect(page.getByText('No imports yet')).toBeVisible()
  await page.getByRole('button', { name: 'New Import' }).first().click()
  const form = dialog(page, 'New Import')
  await form.locator('input[type=file]').setInputFiles({
    name: 'mine.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(
      'License Key;expiresAt;key;banned;banReason\nx;2090-12-31;NEW-KEY-1;WAHR;Charged back\nx;2090-12-31;TAKEN-KEY-1\nx;soon;LATE-KEY-1\nx;2090-12-31\nx;2090-12-31;LAST-KEY-1\n',
    ),
  })
  await form.getByRole('button', { name: 'Check Files' }).click()
  await expect(rows(page)).toHaveText([
    /NEW-KEY-1.*Will be created/s,
    /TAKEN-KEY-1.*Left out.*The key exists already/s,
    /LATE-KEY-1.*Problem.*expiresAt must be an ISO 8601 date/s,
    /—.*Will be created.*It gets a random key/s,
    /LAST-KEY-1.*Problem.*Your plan allows 30 licenses per app/s,
  ])
  expect((await vendor.call('GET', '/licenses')).pagination.total).toBe(28)
  await page.getByRole('button', { name: 'Import 2 Rows' }).click()
  await expect(page.getByText('2 licenses and 0 end users created.')).toBeVisible()
  const [random, banned] = (await vendor.call('GET', '/licenses')).licenses
  expect(banned).toMatchObject({ key: 'NEW-KEY-1', banned: true, banReason: 'Charged back' })
  await expect(row(page, random.key)).toContainText('Created')
})

test('maps the columns of a CSV list, whose preview shows its cells', {
  tag: ['@full', '@phone'],
}, async ({ page, request }) => {
  const vendor = await Vendor.signUp(request)
  await vendor.createApp()
  await enter(page, vendor, '/imports?dialog=new-import')
  const form = dialog(page, 'New Import')
  await choose(form, 'System', 'Any CSV or JSON list')
  await form.locator('input[type=file]').setInputFiles({
    name: 'old keys.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(
      '\uFEFFCode A;Ablauf;State\r\nOLD-KEY-0001;2090-12-31;unused\r\nOLD-KEY-0002;soon;unused\r\n',
      'utf16le',
    ),
  })
  await expect(form.getByText('OLD-KEY-0001 · OLD-KEY-0002')).toBeVisible()
  await form.getByRole('button', { name: 'Check Files' }).click()
  await expect(form.getByRole('alert')).toHaveText('Say which column has the license keys or the usernames')
  await choose(form, 'What Code A means', 'License key')
  await expectAccessible(page, 'the columns of a file')
  await form.getByRole('button', { name: 'Check Files' }).click()
  await expect(row(page, 'OLD-KEY-0001')).toContainText('Will be created')
  await expect(row(page, 'OLD-KEY-0002')).toContainText('The date is not one of')
  await page.getByRole('button', { name: 'Import 1 Row', exact: true }).click()
  await expect(page.getByText('1 license and 0 end users created.')).toBeVisible()
})

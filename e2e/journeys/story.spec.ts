import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { expect, test } from '../keyward.ts'
import { type Configuration, Tally } from '../program.ts'
import { isFull } from '../repeated.ts'
import {
  dialog,
  expectToast,
  heading,
  keyPrefix,
  navigate,
  pauseApp,
  readClipboard,
  row,
  rowAction,
  unique,
} from '../steps.ts'

test('a program runs with a sold key, and is rejected on its next call after the vendor bans the user', async ({
  page,
  keyward,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'keyward-story-'))
  const novel = join(folder, 'novel.md')
  writeFileSync(novel, '# Chapter one\n\nIt was a dark and stormy night.\n')
  const running: Tally[] = []

  await test.step('sign up', async () => {
    await page.goto('/')
    await page.getByRole('link', { name: 'Sign in', exact: true }).click()
    await page.getByRole('tab', { name: 'Sign Up' }).click()
    await page.getByLabel('Full Name').fill('Vera Vendor')
    await page.getByLabel('Email').fill(`${unique('vera')}@example.com`)
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
    await page.getByLabel('Confirm Password').fill('correct horse battery')
    await page.getByRole('button', { name: 'Sign Up' }).click()
    await expectToast(page, 'Registration Successful')
    await expect(heading(page, 'Welcome, Vera Vendor')).toBeVisible()
  })

  const configuration = await test.step('create an app and copy its id, secret and public key', async () => {
    await page.getByRole('button', { name: 'Create Your First App' }).first().click()
    await dialog(page, 'Add New App').getByLabel('App Name').fill('Tally')
    await page.getByRole('button', { name: 'Create App' }).click()
    await expectToast(page, 'App created successfully')
    const view = dialog(page, 'Tally is ready')
    await expect(view).toBeVisible()
    const facts: Configuration = {
      baseUrl: keyward.url,
      appId: await copied(page, 'Copy app id'),
      secret: await copied(page, 'Copy app secret'),
      publicKeys: await copied(page, 'Copy public key'),
      home: join(folder, 'home'),
    }
    expect(facts.appId).toMatch(/^\w{8}$/)
    expect(facts.secret).toMatch(/^\w{32}$/)
    const [key] = JSON.parse(facts.publicKeys)
    expect(key).toMatchObject({ kty: 'OKP', crv: 'Ed25519' })
    await view.getByRole('button', { name: 'Show App secret' }).click()
    for (const fact of [keyward.url, facts.appId, facts.secret, key.x]) {
      // A file of this name is a module for every Node, whatever package it is in.
      await expect(view.getByLabel('license.mjs', { exact: true })).toContainText(fact)
    }
    await view.getByRole('button', { name: 'Done' }).click()
    return facts
  })

  const key = await test.step('generate a license and copy its key', async () => {
    await navigate(page, 'Licenses')
    await page.getByRole('button', { name: 'Generate License' }).first().click()
    const form = dialog(page, 'Generate License')
    await form.getByRole('button', { name: 'Generate License' }).click()
    await expectToast(page, 'Licenses Generated', 'Successfully generated 1 license(s).')
    await page.getByRole('button', { name: 'Copy license key', exact: true }).click()
    await expectToast(page, 'License key copied to clipboard')
    const text = await readClipboard(page)
    expect(text).toMatch(/^([0-9A-Z]{5}-){4}[0-9A-Z]{5}$/)
    await page.getByRole('button', { name: 'Done' }).click()
    await expect(row(page, keyPrefix(text))).toContainText('Unused')
    return text
  })

  const start = (machine: string, ...args: string[]) => {
    const program = new Tally(configuration, machine, ...args, novel)
    running.push(program)
    return program
  }

  try {
    const program = await test.step('the program reports its activation', async () => {
      const started = start('office computer', '--key', key, '--watch')
      await started.expectOutput('Activated until')
      await started.expectOutput('Watching for changes')
      return started
    })

    await test.step('the console shows the license as Active with its user', async () => {
      await page.reload()
      const license = row(page, keyPrefix(key))
      await expect(license).toContainText('Active')
      await expect(license).toContainText('Used by Unnamed')
      await license.getByRole('link', { name: 'Unnamed' }).click()
      await expect(heading(page, 'Unnamed')).toBeVisible()
      await expect(page.getByRole('main')).toContainText('Active')
      await expect(page.getByRole('main')).toContainText('1 of 1 in use')
    })

    await test.step("the ban ends the program on its next call with the app's own text", async () => {
      await rowAction(page, 'Unnamed', 'Ban')
      await page.getByRole('button', { name: 'Ban User' }).click()
      await expectToast(page, 'User Banned')
      await expect(page.getByRole('main')).toContainText('Banned')
      appendFileSync(novel, '\nSuddenly, a shot rang out.\n')
      await program.expectEnd(3, 'User account is banned')
      await start('office computer').expectEnd(3, 'User account is banned')
    })

    // What follows is proven by slices, and by journeys of each action.
    if (!isFull) return

    await test.step('the program runs again after the ban is lifted', async () => {
      await rowAction(page, 'Unnamed', 'Unban')
      await page.getByRole('button', { name: 'Unban User' }).click()
      await expectToast(page, 'User Unbanned')
      await expect(page.getByRole('main')).toContainText('Active')
      await start('office computer').expectEnd(0, 'Activated until')
    })

    await test.step('another machine is rejected until the hardware lock is reset', async () => {
      await start('home laptop').expectEnd(3, 'Hardware ID mismatch')
      await rowAction(page, 'Unnamed', 'Reset HWID')
      await page.getByRole('button', { name: 'Reset HWID' }).click()
      await expectToast(page, 'HWID Reset')
      await expect(page.getByRole('main')).toContainText('No devices')
      await start('home laptop').expectEnd(0, 'Activated until')
      await start('office computer').expectEnd(3, 'Hardware ID mismatch')
    })

    await test.step('a paused app rejects all programs until it is resumed', async () => {
      await navigate(page, 'Dashboard')
      await pauseApp(page, 'Tally')
      await expectToast(page, 'App paused successfully')
      await start('home laptop').expectEnd(3, 'Application is currently paused')
      await rowAction(page, 'Tally', 'Resume App')
      await expectToast(page, 'App resumed successfully')
      await start('home laptop').expectEnd(0, 'Activated until')
    })

    await test.step('a deleted license ends the program permanently', async () => {
      const last = start('home laptop', '--watch')
      await last.expectOutput('Watching for changes')
      await navigate(page, 'Licenses')
      await rowAction(page, keyPrefix(key), 'Delete License')
      await dialog(page, 'Delete License').getByRole('button', { name: 'Delete License' }).click()
      await expectToast(page, 'License Deleted')
      await expect(page.getByText('No licenses found')).toBeVisible()
      appendFileSync(novel, '\nThe end.\n')
      await last.expectEnd(3, 'No active subscription found')
      await start('home laptop').expectEnd(3, 'License key not found')
    })
  } finally {
    for (const program of running) await program.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

async function copied(page: Page, label: string) {
  await page.getByRole('button', { name: label }).click()
  await expectToast(page, 'Copied to clipboard')
  return readClipboard(page)
}

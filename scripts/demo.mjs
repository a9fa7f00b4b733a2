import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  chapter,
  findPort,
  ownerApi,
  say,
  startFakeServer,
  startProgram,
  startProvider,
  startServer,
  waitFor,
} from './demo/services.mjs'
import { ensureInstalled, nodePath } from './ensure.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const program = join(root, 'examples/protected-cli/src/tally.mjs')
const day = 24 * 60 * 60 * 1000
const inDays = (days) => new Date(Date.now() + days * day).toISOString()

const cleanups = []

async function cleanUp() {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

async function main() {
  await ensureInstalled({ dev: true })
  const folder = await mkdtemp(join(tmpdir(), 'keyward-demo-'))
  cleanups.push(() => rm(folder, { recursive: true, force: true }))
  execFileSync(nodePath(), [join(root, 'packages/sdk/build.mjs')], { stdio: 'inherit' })

  chapter('A server with an empty database')
  const port = await findPort()
  const keys = Object.fromEntries(
    ['RAZORPAY_KEY_ID', 'RAZORPAY_KEY_SECRET', 'RAZORPAY_WEBHOOK_SECRET'].map((name) => [
      name,
      randomBytes(16).toString('hex'),
    ]),
  )
  const provider = await startProvider(nodePath(), join(root, 'packages/payment-stand-in/src/main.ts'), {
    ...keys,
    WEBHOOK_URL: `http://127.0.0.1:${port}/api/payments/razorpay/webhook`,
  })
  cleanups.push(() => provider.stop())
  const start = () =>
    startServer(nodePath(), join(root, 'apps/server/src/main.mjs'), {
      ...keys,
      PORT: String(port),
      DATA_DIR: join(folder, 'data'),
      PAYMENTS: 'razorpay',
      RAZORPAY_API_URL: provider.baseUrl,
    })
  let server = await start()
  cleanups.push(() => server.stop())
  const whileStopped = async (work) => {
    await server.stop()
    await work()
    server = await start()
  }
  say(`Keyward is ready at ${server.baseUrl}. The demo deletes everything at its end.`)

  const vendor = await setUpVendor(server.baseUrl)
  await runProgram({ ...vendor, folder, whileStopped })
  await buyPremium(vendor.owner, provider)
  console.log('\nThe demo is finished. The server, its database and the text are deleted.')
}

async function setUpVendor(baseUrl) {
  chapter('A vendor signs up, creates an app and generates a license')
  const owner = ownerApi(baseUrl)
  const email = 'vera@example.com'
  await owner('POST', '/auth/register', {
    name: 'Vera',
    email,
    password: randomBytes(12).toString('base64url'),
  })
  const { app } = await owner('POST', '/apps', { name: 'Tally' })
  const { license } = await owner('POST', '/licenses', { app: app._id, expiresAt: inDays(30) })
  const banText = 'This license was revoked. Please write to help@example.com.'
  await owner('PUT', `/apps/${app._id}/error-messages`, { userBanned: banText })
  const { keys } = await owner('GET', `/client/apps/${app.appId}/keys`)
  say(`App ${app.name} (${app.appId}) has the public key ${keys[0].x}.`)
  say(`License ${license.key} runs for 30 days.`)
  say(`Message for banned end users: "${banText}"`)
  return { baseUrl, owner, app, license, publicKeys: keys, banText }
}

async function runProgram({ baseUrl, owner, app, license, publicKeys, banText, folder, whileStopped }) {
  const text = join(folder, 'novel.md')
  await writeFile(text, '# Chapter one\n\nIt was a dark and stormy night.\n')
  const config = {
    KEYWARD_BASE_URL: baseUrl,
    KEYWARD_APP_ID: app.appId,
    KEYWARD_SECRET: app.appSecret,
    KEYWARD_PUBLIC_KEYS: JSON.stringify(publicKeys),
  }
  const start = (machine, args, change = {}) => {
    const home = join(folder, machine)
    const places = { TALLY_HOME: home, HOME: home, XDG_STATE_HOME: home, LOCALAPPDATA: home }
    const env = { ...config, KEYWARD_HWID: machine, ...places, ...change }
    return startProgram(program, args, env, folder)
  }
  const daysBack = (days) => ({
    NODE_OPTIONS: `--import data:text/javascript,const{now}=Date;Date.now=()=>now()-${days}*864e5`,
  })
  const expectEnd = async (running, status, part) => {
    const end = await running.end
    if (end.status !== status || !end.output.includes(part)) {
      throw new Error(
        `Expected Tally to exit with status ${status} and "${part}", but it exited with ${end.status}`,
      )
    }
  }
  const findClient = async () => {
    const { clients } = await owner('GET', `/clients?app=${app.appId}`)
    return clients[0]
  }

  chapter('Without a license, the program does not work')
  await expectEnd(start('office-computer', ['novel.md']), 1, 'needs a license')
  await expectEnd(start('office-computer', ['--key', 'NO-SUCH-KEY', 'novel.md']), 3, 'License key not found')

  chapter('With the license it works; the first use binds the key to the machine')
  await expectEnd(start('office-computer', ['--key', license.key, 'novel.md']), 0, 'Activated until')
  const client = await findClient()
  say(`The console now lists the end user ${client.username}, on "${client.hwid}".`)

  chapter('On another machine the same key is rejected')
  await expectEnd(start('home-laptop', ['--key', license.key, 'novel.md']), 3, 'Hardware ID mismatch')

  chapter('The vendor resets the hardware lock, and the customer moves to the laptop')
  await owner('PATCH', `/clients/${client._id}/reset-hwid`)
  await expectEnd(start('home-laptop', ['--key', license.key, 'novel.md']), 0, 'Activated until')

  chapter('The vendor bans the end user while the program is running')
  const watching = start('home-laptop', ['--watch', 'novel.md'])
  cleanups.push(() => watching.stop())
  await watching.prints('Watching')
  await owner('PATCH', `/clients/${client._id}/toggle-ban`, { is_banned: true })
  say('Banned. Now the customer saves the text, and the program checks the license first:')
  await appendFile(text, '\nSuddenly, a shot rang out.\n')
  await expectEnd(watching, 3, banText)
  await expectEnd(start('home-laptop', ['novel.md']), 3, banText)

  chapter('The vendor lifts the ban and adds ten days')
  await owner('PATCH', `/clients/${client._id}/toggle-ban`, { is_banned: false })
  await owner('PATCH', `/clients/${client._id}/extend`, { days: 10 })
  await expectEnd(start('home-laptop', ['novel.md']), 0, 'Activated until')

  chapter('The server is down, and the program works on with its signed lease')
  await whileStopped(async () => {
    await expectEnd(start('home-laptop', ['novel.md']), 0, 'signed permission')
    say('The same on a machine to which the folder was copied:')
    await cp(join(folder, 'home-laptop'), join(folder, 'copied-laptop'), { recursive: true })
    await expectEnd(start('copied-laptop', ['novel.md']), 2, 'cannot be reached')
    say('The customer sets the clock back by two days, to make the lease last longer:')
    await expectEnd(start('home-laptop', ['novel.md'], daysBack(2)), 2, 'clock of this computer is behind')
  })

  chapter('The server is back, and a ban takes effect, offline too')
  await expectEnd(start('home-laptop', ['novel.md']), 0, 'Activated until')
  await owner('PATCH', `/clients/${client._id}/toggle-ban`, { is_banned: true })
  await expectEnd(start('home-laptop', ['novel.md']), 3, banText)
  await whileStopped(() => expectEnd(start('home-laptop', ['novel.md']), 2, 'cannot be reached'))
  await owner('PATCH', `/clients/${client._id}/toggle-ban`, { is_banned: false })

  await activateVault({ owner, app, start, expectEnd, folder })

  chapter('A cracker redirects the program to a server that accepts everything')
  const fake = await startFakeServer()
  cleanups.push(() => fake.stop())
  await expectEnd(start('home-laptop', ['novel.md'], { KEYWARD_BASE_URL: fake.baseUrl }), 4, 'not signed')

  chapter('The license expires')
  await owner('PUT', `/licenses/${license._id}`, { expiresAt: new Date().toISOString() })
  await expectEnd(start('home-laptop', ['novel.md']), 3, 'No active subscription found')
}

/** A machine that never reaches the server gets a file that answers its request. */
async function activateVault({ owner, app, start, expectEnd, folder }) {
  chapter('A machine that is never online exchanges texts with the vendor')
  const { license } = await owner('POST', '/licenses', { app: app._id, expiresAt: inDays(30) })
  const offline = { KEYWARD_BASE_URL: 'http://127.0.0.1:1' }
  const run = async (args, pattern) => pattern.exec((await start('vault', args, offline).end).output)?.[0]
  const request = await run(['--offline-request', license.key], /KWR1-\S+/)
  const { file, activation } = await owner('POST', `/apps/${app._id}/offline-activations`, { request })
  say(`The vendor pastes the request into the console and gets a file, valid until ${activation.until}.`)
  await writeFile(join(folder, 'answer.txt'), file)
  await expectEnd(start('vault', ['--activate', 'answer.txt'], offline), 0, 'Activated until')
  await expectEnd(start('vault', ['novel.md'], offline), 0, 'signed permission')
  await expectEnd(start('office-computer', ['--activate', 'answer.txt'], offline), 1, 'another machine')
  const code = await run(['--deactivate'], /KWD1-\S+/)
  await owner('POST', `/apps/${app._id}/offline-deactivations`, { code })
  await expectEnd(start('vault', ['novel.md'], offline), 1, 'needs a license')
  say('The code frees the device: the license can move to another machine.')
}

async function buyPremium(owner, provider) {
  const subscription = async () => (await owner('GET', '/subscription')).subscription

  chapter('The vendor has outgrown the free plan and buys a year of premium')
  await owner('POST', '/apps', { name: 'Ledger' })
  await owner('POST', '/apps', { name: 'Scribe' }).then(
    () => Promise.reject(new Error('the free plan accepted a third app')),
    (error) => say(error.message),
  )
  const { totals } = await owner('POST', '/payments/validate-coupon', { couponCode: 'save10' })
  say(`With the coupon SAVE10 a year costs ${totals.yearly.priceFormatted}.`)
  const order = await owner('POST', '/payments/razorpay/create-order', {
    planDuration: 'yearly',
    couponCode: 'SAVE10',
  })
  await provider.pay(order.keyId, order.orderId)
  say('Paid at a stand-in provider. The browser closes without a report;')
  const paid = await waitFor('premium', async () => {
    const now = await subscription()
    return now.hasActiveSubscription && now
  })
  say(`the provider's webhook starts premium until ${paid.expiryDate}.`)
  await owner('POST', '/apps', { name: 'Scribe' })
  say('The third app is created.')

  chapter('The vendor cancels within seven days')
  const { refund } = await owner('POST', '/payments/cancel-subscription', { refund: true })
  if (!refund.done) throw new Error('the money was not refunded')
  const { payments } = await owner('GET', '/payments/history')
  say(
    `The payment of ${refund.priceFormatted} is ${payments[0].status}; the plan is ${(await subscription()).plan}.`,
  )
  const { apps } = await owner('GET', '/apps')
  say(`All ${apps.length} apps are still there.`)
}

process.once('SIGINT', () => {
  cleanUp().finally(() => process.exit(130))
})

main()
  .catch((error) => {
    console.error(`\nThe demo failed: ${error.message}`)
    process.exitCode = 1
  })
  .finally(cleanUp)

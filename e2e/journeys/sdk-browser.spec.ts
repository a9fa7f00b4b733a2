import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '../keyward.ts'
import { Vendor } from '../steps.ts'

test('a program in a web page of another origin signs in with the SDK, and its answers are verified', {
  tag: '@full',
}, async ({ page, request, baseURL }) => {
  const vendor = await Vendor.signUp(request)
  const app = await vendor.createApp()
  const [license] = await vendor.createLicenses(app)
  const { keys } = await vendor.call('GET', `/client/apps/${app.appId}/keys`)
  const sdk = readFileSync(new URL('../../packages/sdk/dist/web.js', import.meta.url))
  const shop = createServer((incoming, response) => {
    const isScript = incoming.url === '/sdk.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? sdk : '<!doctype html><title>Shop</title>')
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  try {
    await page.goto(`http://127.0.0.1:${(shop.address() as AddressInfo).port}/`)
    const run = (publicKeys: unknown, licenseKey: string) =>
      page.evaluate<string>(`(async () => {
        const { Keyward } = await import('/sdk.js')
        const keyward = new Keyward(${JSON.stringify({ baseUrl: baseURL, appId: app.appId, secret: app.appSecret, publicKeys, version: '1.0.0', hwid: 'page' })})
        const outcome = await keyward.license(${JSON.stringify(licenseKey)}).catch((error) => error)
        return outcome.ok ? 'ok as ' + outcome.user.username : outcome.code
      })()`)
    expect(await run(keys, license!.key)).toBe(`ok as ${license!.key}`)
    expect(await run(keys, 'no-such-key')).toBe('keyNotFound')
    const foreign = [{ ...keys[0], x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' }]
    expect(await run(foreign, license!.key)).toBe('bad_signature')
  } finally {
    shop.close()
  }
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signUp } from '../actors.ts'
import { startServer, type TestServer } from '../harness.ts'
import { textsTo } from '../mailed.ts'
import { invite, newAddress } from '../member-actor.ts'
import { SmtpSink } from '../smtp-sink.ts'

let sink: SmtpSink
let on: TestServer
const lines: string[] = []
beforeAll(async () => {
  sink = await SmtpSink.start()
  const environment = {
    SMTP_URL: `smtp://${sink.host}`,
    PUBLIC_URL: 'http://127.0.0.1:4000/keys',
    RATE_LIMITS: 'on',
  }
  on = await startServer(environment, {
    logLevel: 'info',
    log: { write: (line: string) => void lines.push(line) },
  })
})
afterAll(async () => {
  await on.close()
  await sink.stop()
})

describe('an invitation', () => {
  test("is mailed with the inviter's address and the link of the answer, five times a day at most", async () => {
    const owner = await signUp(on)
    const email = newAddress()
    const { link } = await invite(owner, { email })
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:4000\/keys\/auth\/invitation#kwi_/)
    await expect.poll(() => textsTo(sink, email).length).toBe(1)
    const [text] = textsTo(sink, email)
    expect(text).toContain(owner.email)
    expect(text).toContain(link)
    // The name is what anyone can choose.
    expect(text).not.toContain('Owner ')

    const links = []
    for (let at = 0; at < 6; at += 1) links.push((await invite(await signUp(on), { email })).link)
    await expect.poll(() => textsTo(sink, email).length).toBe(5)
    const last = newAddress()
    await invite(owner, { email: last })
    await expect.poll(() => textsTo(sink, last).length).toBe(1)
    expect(textsTo(sink, email)).toHaveLength(5)
    expect(new Set(links).size).toBe(6)
    expect(lines.join('')).not.toContain('kwi_')
  })
})

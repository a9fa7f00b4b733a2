// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signUp } from '../actors.ts'
import { serverForAll } from '../fixtures.ts'
import { startServer, type TestServer } from '../harness.ts'
import { textsTo } from '../mailed.ts'
import { invite, newAddress } from '../member-actor.ts'
import { queuedMails } from '../queued-mails.ts'
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

describe('while the mail server is down', () => {
  const waiting = serverForAll({ SMTP_URL: 'smtp://127.0.0.1:1', PUBLIC_URL: 'http://127.0.0.1:4000' })
  const mailsTo = async (email: string) =>
    (await queuedMails(waiting)).filter(({ to }) => to === email).map(({ text }) => text)

  test('a withdrawn invitation takes its waiting mail along, and no other', async () => {
    const owner = await signUp(waiting)
    const [email, other] = [newAddress(), newAddress()]
    const { _id } = await invite(owner, { email })
    await invite(owner, { email: other })
    expect(await mailsTo(email)).toHaveLength(1)
    expect((await owner.call('DELETE', `/members/${_id}`)).status).toBe(200)
    expect(await mailsTo(email)).toEqual([])
    expect(await mailsTo(other)).toHaveLength(1)
  })

  test('another invitation of an address replaces the waiting mail with the dead link', async () => {
    const owner = await signUp(waiting)
    const email = newAddress()
    const first = await invite(owner, { email })
    const second = await invite(owner, { email })
    const [text, ...more] = await mailsTo(email)
    expect(more).toEqual([])
    expect(text).toContain(second.link)
    expect(text).not.toContain(first.link)
  })
})

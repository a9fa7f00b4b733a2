import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

const secret = Buffer.from(process.env.WEBHOOK_SECRET?.slice('whsec_'.length) ?? '', 'base64')
if (secret.length < 24) throw new Error('WEBHOOK_SECRET must be the secret of the webhook: whsec_…')

createServer(async (request, response) => {
  const body = await buffer(request).catch(() => '')
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': sent = '' } = request.headers
  const expected = createHmac('sha256', secret).update(`${id}.${at}.`).update(body).digest()
  const signatures = sent.split(' ').map((one) => Buffer.from(one.replace('v1,', ''), 'base64'))
  const isSigned = signatures.some((one) => one.length === 32 && timingSafeEqual(one, expected))
  const isGenuine = isSigned && Math.abs(Date.now() / 1000 - Number(at)) <= 300
  if (isGenuine) console.log(id, JSON.parse(body).type)
  response.writeHead(isGenuine ? 204 : 401).end()
}).listen(Number(process.env.PORT ?? 8000))

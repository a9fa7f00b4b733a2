// The vendor's own server: does the work of the program, for customers with a lease.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { readKeys, readLease } from './lease.mjs'
import { review } from './review.mjs'

const { appId, publicKeys } = JSON.parse(readFileSync(process.env.KEYWARD_CONFIG ?? 'keyward.json', 'utf8'))
const keys = readKeys(publicKeys)
const bodyMax = 100_000
const perMinute = Number(process.env.PER_MINUTE ?? 30)
/** Requests of this minute by end user: a lease that was passed on must not be worth more than one license. */
let counts = new Map()
setInterval(() => {
  counts = new Map()
}, 60_000).unref()

async function answer(request) {
  const lease = readLease(request.headers.authorization?.replace(/^Bearer /, ''), { appId, keys })
  if (!lease)
    return [401, { code: 'lease_needed', message: 'Sign in again: the lease is missing or has ended.' }]
  const count = (counts.get(lease.sub) ?? 0) + 1
  counts.set(lease.sub, count)
  if (count > perMinute) return [429, { code: 'too_many', message: `At most ${perMinute} texts a minute.` }]
  if (!(Number(request.headers['content-length']) <= bodyMax)) {
    return [413, { code: 'too_long', message: `At most ${bodyMax} bytes.` }]
  }
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return [200, review(text, { withDetails: lease.features.includes('details') })]
}

const server = createServer(async (request, response) => {
  const [status, content] = await answer(request).catch(() => [
    400,
    { code: 'broken', message: 'Try again.' },
  ])
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify(content))
})
server.listen(Number(process.env.PORT ?? 4100), '127.0.0.1', () => {
  console.log(`The vendor's server listens on http://127.0.0.1:${server.address().port}`)
})

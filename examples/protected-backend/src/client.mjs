// The program that customers have: it signs in, and lets the vendor's server work.
import { readFileSync } from 'node:fs'
import { Keyward, KeywardError } from '@keyward/sdk'

const [key, file] = process.argv.slice(2)
const service = process.env.SERVICE_URL ?? 'http://127.0.0.1:4100'
let kept = ''

try {
  if (file === undefined) throw new TypeError('Usage: npm run client -- LICENSE-KEY FILE')
  const config = JSON.parse(readFileSync(process.env.KEYWARD_CONFIG ?? 'keyward.json', 'utf8'))
  // In memory: each start signs in and gets a fresh lease. `user-data` keeps it in a file, for work without a connection.
  const storage = {
    read: async () => kept,
    async write(text) {
      kept = text
    },
  }
  const keyward = new Keyward({ ...config, version: '1.0.0', storage })
  const signedIn = await keyward.license(key)
  if (!signedIn.ok) throw new TypeError(signedIn.message)
  console.log(await review(readFileSync(file, 'utf8')))
} catch (error) {
  console.error(
    error instanceof KeywardError ? `No license could be checked: ${error.message}` : error.message,
  )
  process.exitCode = 1
}

async function review(text) {
  const { lease } = JSON.parse(kept)
  const answer = await fetch(service, {
    method: 'POST',
    headers: { authorization: `Bearer ${lease}` },
    body: text,
  })
  const content = await answer.json()
  if (!answer.ok) throw new TypeError(`${content.message} (${content.code})`)
  return content
}

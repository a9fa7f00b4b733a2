import { createCalls, type License, Refusal } from './calls.js'

// All that this program needs of Node.
declare const process: {
  argv: string[]
  env: Record<string, string | undefined>
  exitCode: number
}

const usage = `KEYWARD_URL and KEYWARD_API_KEY are the address of your server and an API key with licenses:write.

npm start -- create APP DAYS ORDER     a license for so many days from its first use
npm start -- extend LICENSE DAYS ORDER
npm start -- ban LICENSE REASON

ORDER is the number of the order in your shop. Within 24 hours, a repeat with the same order changes nothing.`

const show = ({ _id, key, status, expiresAt, note }: License) =>
  console.log(JSON.stringify({ _id, key, status, expiresAt, note }))

async function run([command, subject = '', ...rest]: string[]): Promise<void> {
  const { KEYWARD_URL: url, KEYWARD_API_KEY: apiKey } = process.env
  if (!url || !apiKey || rest.length === 0) throw new Error(usage)
  const calls = createCalls(url, apiKey)
  const [first = '', order = ''] = rest
  if (command === 'create' && order)
    return show(await calls.create(subject, Number(first), `Order ${order}`, `create-${order}`))
  if (command === 'extend' && order)
    return show(await calls.extend(subject, Number(first), `extend-${order}`))
  if (command === 'ban') return show(await calls.ban(subject, first, crypto.randomUUID()))
  throw new Error(usage)
}

try {
  await run(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = error instanceof Refusal ? 2 : 1
}

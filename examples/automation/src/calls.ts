import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

export type License = components['schemas']['License']
type Failure = components['schemas']['Failure']

/** The server refused a call. */
export class Refusal extends Error {
  constructor(status: number, failure: Failure | undefined) {
    const fields = failure?.errors?.map(({ path, message }) => `\n  ${path}: ${message}`) ?? []
    super(`${status} ${failure?.code ?? ''}: ${failure?.message ?? 'no answer of Keyward'}${fields.join('')}`)
  }
}

/** The calls of this example. `request` names a write: a repeat with the same name changes nothing again. */
export function createCalls(baseUrl: string, apiKey: string) {
  const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } })
  return {
    async create(app: string, days: number, note: string, request: string): Promise<License> {
      const { license } = await take(() =>
        api.POST('/api/licenses', {
          params: { header: { 'Idempotency-Key': request } },
          body: { app, duration: { value: days, unit: 'days' }, note },
        }),
      )
      return license
    },

    async extend(id: string, days: number, request: string): Promise<License> {
      const { changed, licenses } = await take(() =>
        api.POST('/api/licenses/bulk', {
          params: { header: { 'Idempotency-Key': request } },
          body: { action: 'extend', ids: [id], days },
        }),
      )
      const [license] = licenses
      if (!license || changed === 0)
        throw new Error('This license has no end yet, or never ends, so there is nothing to extend')
      return license
    },

    async ban(id: string, reason: string, request: string): Promise<License> {
      const { license } = await take(() =>
        api.PATCH('/api/licenses/{id}/toggle-ban', {
          params: { path: { id }, header: { 'Idempotency-Key': request } },
          body: { is_banned: true, reason },
        }),
      )
      return license
    },
  }
}

interface Answer<Data> {
  data?: { data: Data }
  error?: Failure
  response: Response
}

const attemptsMax = 3

/** Returns the data of a success. Sends the same request again if there is no answer, or none yet. */
async function take<Data>(send: () => Promise<Answer<Data>>, attempt = 1): Promise<Data> {
  const isLast = attempt === attemptsMax
  const answer = await send().catch((error: unknown) => {
    if (isLast) throw new Error(`No answer: ${error}`, { cause: error })
  })
  if (answer?.data) return answer.data.data
  const isForLater =
    answer?.error?.code === 'request_running' || [429, 502, 503, 504].includes(answer?.response.status ?? 504)
  if (answer && (isLast || !isForLater)) throw new Refusal(answer.response.status, answer.error)
  const seconds = Number(answer?.response.headers.get('Retry-After') ?? attempt)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  return take(send, attempt + 1)
}

import { readCsvTable } from '@keyward/contract/imported-files'
// Every answer that a server gives about what it stores, found by its own list of calls.
import { until } from '../cluster/programs.ts'
import { pausedUsers } from './fill.ts'

export interface Answer {
  status: number
  body: unknown
}
export type Answers = Record<string, Answer>

export interface Tokens {
  owner: string
  reseller: string
  apiKey?: string
}

interface Operation {
  parameters?: { name: string; in: string; required?: boolean }[]
}
export type Calls = Record<string, Record<string, Operation>>

export async function readCalls(url: string): Promise<Calls> {
  const answer = await fetch(`${url}/api/openapi.json`)
  return ((await answer.json()) as { paths: Calls }).paths
}

/** Calls that say nothing of what is stored. */
const leftOut = /^\/api\/(events|ready|health|plans|payments\/pricing)$|^\/api\/client\/(session|devices)$/

/** Pages of lists that differ from their first page. */
const more: Record<string, string[]> = {
  '/api/licenses': [
    'status=active',
    'status=unused',
    'status=expired',
    'status=banned',
    'search=sold',
    'page=2&limit=10',
  ],
  '/api/clients': ['search=ada', 'page=2&limit=2'],
  '/api/activity': ['limit=100'],
}

/** Reads every GET of the list, for every object that its lists name. */
export async function readAnswers(url: string, calls: Calls, tokens: Tokens): Promise<Answers> {
  const answers: Answers = {}
  const get = async (path: string): Promise<Answer> => {
    answers[path] ??= await read(url, path, tokens)
    return answers[path]
  }
  for (const [template, operations] of Object.entries(calls)) {
    if (!operations.get || leftOut.test(template)) continue
    for (const path of await expand(template, get)) {
      for (const query of await queriesOf(operations.get, get)) await get(`${path}${query}`)
      for (const query of more[path] ?? []) await get(`${path}?${query}`)
    }
  }
  return answers
}

type Get = (path: string) => Promise<Answer>

/** Puts the ids of the list before each parameter into the path. */
async function expand(template: string, get: Get): Promise<string[]> {
  const at = template.indexOf('{')
  if (at < 0) return [template]
  const end = template.indexOf('}', at)
  const [before, name, after] = [template.slice(0, at), template.slice(at + 1, end), template.slice(end + 1)]
  const isOfProgram = before === '/api/client/apps/'
  const list = isOfProgram ? '/api/apps' : before.slice(0, -1)
  const ids = idsIn(await get(list), { id: '_id', deliveryId: '_id' }[name] ?? name)
  const paths = await Promise.all(ids.map((id) => expand(`${before}${id}${after}`, get)))
  return paths.flat()
}

/** The ids of the first list in an answer. */
function idsIn({ body }: Answer, field: string): string[] {
  const { data = {} } = body as { data?: object }
  const list = Object.values(data).find((value) => Array.isArray(value)) as object[] | undefined
  return [...new Set((list ?? []).flatMap((each) => (each as Record<string, string>)[field] ?? []))]
}

/** A query for each app where a call requires one. */
async function queriesOf({ parameters = [] }: Operation, get: Get): Promise<string[]> {
  const required = parameters.filter((each) => each.in === 'query' && each.required).map(({ name }) => name)
  if (required.length === 0) return ['']
  if (required.join() !== 'app') throw new Error(`Nothing is known of the queries ${required.join(', ')}`)
  return idsIn(await get('/api/apps'), '_id').map((id) => `?app=${id}`)
}

async function read(url: string, path: string, tokens: Tokens): Promise<Answer> {
  const token = path.startsWith('/api/resellers/auth/')
    ? tokens.reseller
    : path === '/api/api-keys/current'
      ? tokens.apiKey
      : tokens.owner
  const answer = await fetchAgain(`${url}${path}`, { authorization: `Bearer ${token}` })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json')
  return { status: answer.status, body: withoutPauses(isJson ? JSON.parse(text) : toObjects(text)) }
}

/** A server under load may answer 503, which asks to repeat the call. */
export const fetchAgain = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  until(`an answer of ${url}`, 60, async () => {
    const answer = await fetch(url, { headers })
    return answer.status === 503 ? undefined : answer
  })

/** The lines of an export with the names of their columns, so that a new column is an added field. */
function toObjects(csv: string): object[] {
  const [names, ...lines] = Array.from(readCsvTable(csv, ','), ({ cells }) => cells)
  return lines.map((cells) => Object.fromEntries((names ?? []).map((name, at) => [name, cells[at]])))
}

/** While an end user is paused, its end moves with the time. */
function withoutPauses(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutPauses)
  const fields = Object.entries(value).map(([name, each]) => [name, withoutPauses(each)])
  const { username, usedBy } = value as { username?: string; usedBy?: string | { username?: string } | null }
  const user = username ?? (typeof usedBy === 'object' ? usedBy?.username : usedBy)
  const isPaused = 'expiresAt' in value && user !== undefined && pausedUsers.includes(user)
  return Object.fromEntries(isPaused ? [...fields, ['expiresAt', 'moves']] : fields)
}

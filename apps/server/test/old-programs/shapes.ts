import * as z from 'zod'

// What programs read of an answer, and the types that they need: anything else is a crash at the customer's.

const seconds = z.string().regex(/^\d+$/)

const subscription = z.object({
  subscription: z.string(),
  key: z.string().nullable(),
  expiry: seconds,
  timeleft: z.number(),
  level: z.string().optional(),
})

const info = z.object({
  username: z.string(),
  subscriptions: z.array(subscription).min(1),
  ip: z.string(),
  hwid: z.string(),
  createdate: seconds,
  lastlogin: seconds,
})

const appInfo = z.object({
  numUsers: z.string(),
  numOnlineUsers: z.string(),
  numKeys: z.string(),
  version: z.string(),
  customerPanelLink: z.string(),
})

const signedIn = z.object({ info })
const chat = z.object({ author: z.string(), message: z.string(), timestamp: z.number() })

/** What comes with `success: true`, by type; each answer has a message too. */
const successes: Record<string, z.ZodType> = {
  init: z.object({ sessionid: z.string().regex(/^[0-9A-Za-z]+$/), appinfo: appInfo }),
  register: signedIn,
  login: signedIn,
  license: signedIn,
  loginEmail: signedIn,
  getvar: z.object({ response: z.string() }),
  fetchOnline: z.object({ users: z.array(z.object({ credential: z.string() })).min(1) }),
  fetchStats: z.object({ appinfo: appInfo }),
  file: z.object({ contents: z.string().regex(/^([0-9a-f]{2})*$/) }),
  webhook: z.object({ response: z.string() }),
  chatget: z.object({ messages: z.array(chat) }),
}

const answer = z.looseObject({ success: z.boolean(), message: z.string() })
const outdated = z.object({ success: z.literal(false), download: z.string() })

export type OldAnswer = z.infer<typeof answer> & Record<string, unknown>

/** What a program cannot read of the answer to this type, or nothing. */
export function unreadable(type: string, json: unknown): string | undefined {
  const read = answer.safeParse(json)
  if (!read.success) return z.prettifyError(read.error)
  const { success, message } = read.data
  const shape = success ? successes[type] : message === 'invalidver' ? outdated : undefined
  const rest = shape?.safeParse(json)
  return rest?.success === false ? z.prettifyError(rest.error) : undefined
}

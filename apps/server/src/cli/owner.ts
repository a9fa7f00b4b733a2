import { email as emailSchema, password as passwordSchema, personName } from '@keyward/contract'
import { type Config, localUrl } from '../config.ts'
import { systemClock, toIso } from '../core/clock.ts'
import { checkPassword } from '../core/passwords/password-policy.ts'
import { Problem } from '../core/problem.ts'
import type { Database } from '../db/index.ts'
import { openSeal } from '../db/secret-key.ts'
import { createOwner, inviteOwner, type MadeOwner } from '../modules/account/owners.operator.ts'
import { UsageError } from './command.ts'

/** Writes what a command has done: `text` for people, or with `--json` the values. */
export type Answer = (values: object, text: string) => void

export type CreateOptions = {
  name?: string
  'password-stdin'?: boolean
}

/** Longer input is no password. */
const inputMax = 4096

const consoleUrlOf = (config: Config): string => config.publicUrl ?? localUrl(config, config.port)

/** Creates a vendor account with the password of standard input, or a link to choose one. */
export function parseCreate(typed: string, options: CreateOptions, answer: Answer) {
  const person = personOf(typed, options)
  return async (database: Database, config: Config): Promise<void> => {
    const password = options['password-stdin'] ? await readPassword(config) : undefined
    const made = await createOwner(database, systemClock, { ...person, password })
    tell(answer, made, config, false)
  }
}

/** Creates a vendor account and mails a link, or prints it on servers that mail none. */
export function parseInvite(typed: string, options: CreateOptions, answer: Answer) {
  const person = personOf(typed, options)
  return async (database: Database, config: Config): Promise<void> => {
    const isMailed = config.smtpUrl !== undefined && config.publicUrl !== undefined
    const mail = isMailed
      ? { consoleUrl: consoleUrlOf(config), seal: await openSeal(database, config) }
      : undefined
    tell(answer, await inviteOwner(database, systemClock, { ...person, mail }), config, isMailed)
  }
}

function tell(answer: Answer, { email, ownerId, path, until }: MadeOwner, config: Config, mailed: boolean) {
  const link = path === null || mailed ? null : `${consoleUrlOf(config)}${path}`
  const end = until === null ? null : toIso(until)
  const how = mailed
    ? `a link to choose a password is mailed; it works until ${end}`
    : link === null
      ? 'created, with the given password'
      : `this link works once, until ${end}:\n${link}`
  answer({ email, owner: ownerId, mailed, link, linkUntil: end }, `${email}: ${how}\n`)
}

function personOf(typed: string, { name }: CreateOptions): { email: string; name: string } {
  const email = emailSchema.safeParse(typed)
  if (!email.success) throw new UsageError(`${typed} is not an email address.`)
  const personal = personName.safeParse(name ?? email.data.split('@')[0])
  if (!personal.success) throw new UsageError('--name takes the name of a person.')
  return { email: email.data, name: personal.data }
}

/** Its last line break is not part of the password. */
async function readPassword(config: Config): Promise<string> {
  let text = ''
  process.stdin.setEncoding('utf8')
  for await (const part of process.stdin) {
    text += part
    if (text.length > inputMax) break
  }
  const parsed = passwordSchema.safeParse(text.replace(/\r?\n$/, ''))
  if (!parsed.success) throw new UsageError(parsed.error.issues[0]?.message ?? 'This is not a password.')
  try {
    checkPassword({ config }, 'password', parsed.data)
  } catch (error) {
    if (error instanceof Problem) throw new UsageError(error.issues?.[0]?.message ?? error.message)
    throw error
  }
  return parsed.data
}

import { createInterface } from 'node:readline/promises'
import type { Config } from '../config.ts'
import { systemClock, toIso, toIsoOrNull } from '../core/clock.ts'
import { normalizeEmail } from '../core/ids.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Database } from '../db/index.ts'
import {
  listOwners,
  resetOwnerFactors,
  resetOwnerPassword,
  signOutOwner,
} from '../modules/account/account.operator.ts'
import type { ListedOwner } from '../modules/owners/owners.service.ts'
import { type Plan, planOf } from '../modules/owners/plan.rules.ts'
import { deleteVendor, findVendor } from '../modules/platform/vendor-deletion.operator.ts'
import { resetResellerFactors, resetResellerPassword } from '../modules/resellers/resellers.operator.ts'
import { command, print, UsageError, withDatabase } from './command.ts'
import { type Answer, type CreateOptions, parseCreate, parseInvite } from './owner.ts'
import { noOwner, parseDisable, parseEnable, parseLimits, type VendorOptions } from './vendor.ts'

type Work = (database: Database, config: Config) => Promise<void>
type Kind = 'owner' | 'reseller'

const forms = {
  owner:
    'keyward owner list, keyward owner create|invite|disable|enable|limits|delete <email>, keyward owner reset-password <email>, keyward owner reset-second-factor <email>, or keyward owner sign-out <email>',
  reseller: 'keyward reseller reset-password <email>, or keyward reseller reset-second-factor <email>',
}

type OwnerOptions = CreateOptions & VendorOptions & { json?: boolean; yes?: boolean }

export const ownerCommand = command<OwnerOptions>({
  name: 'owner',
  forms: [
    { form: 'owner list', does: ["list every vendor's account"] },
    {
      form: 'owner create <email>',
      does: ['create a vendor account, and print a link to choose its password'],
      options: [
        ['[--name NAME]', 'the name of the person; default: what is before the @'],
        ['[--password-stdin]', 'take the password from standard input instead of a link'],
      ],
    },
    {
      form: 'owner invite <email>',
      does: ['the same, but mail the link; again: replace it until it is used'],
    },
    {
      form: 'owner disable <email>',
      does: ['refuse the vendor, its members, API keys and resellers;', 'its programs go on running'],
      options: [['[--programs]', 'refuse its programs too']],
    },
    { form: 'owner enable <email>', does: ['take that back'] },
    {
      form: 'owner limits <email>',
      does: ['show the limits of a vendor, or set them in place of the plan'],
      options: [
        ['[--apps N] [--licenses N]', 'how many apps, and licenses of each app'],
        ['[--mails N]', 'how many mails to buyers a day'],
        ['[--reset]', 'those of the plan'],
      ],
    },
    {
      form: 'owner delete <email>',
      does: ['delete a vendor account with everything that belongs to it'],
      options: [['[--yes]', 'without asking']],
    },
    { form: 'owner reset-password <email>', does: ['set and print a new password, and end every session'] },
    {
      form: 'owner reset-second-factor <email>',
      does: ['remove the second factor of a person who lost it, and', 'end every session'],
    },
    {
      form: 'owner sign-out <email>',
      does: ['end every session of the vendor'],
      options: [['[--json]', 'for each of these: print the result as JSON']],
    },
  ],
  options: {
    json: { type: 'boolean' },
    name: { type: 'string' },
    'password-stdin': { type: 'boolean' },
    yes: { type: 'boolean' },
    programs: { type: 'boolean' },
    apps: { type: 'string' },
    licenses: { type: 'string' },
    mails: { type: 'string' },
    reset: { type: 'boolean' },
  },
  run: (args, options) => withDatabase(parseOwner(args, options)),
})

export const resellerCommand = command<{ json?: boolean }>({
  name: 'reseller',
  forms: [
    {
      form: 'reseller reset-password <email>',
      does: ['set and print a new password, and end every session'],
    },
    { form: 'reseller reset-second-factor <email>', does: ['the same for a reseller'] },
  ],
  options: { json: { type: 'boolean' } },
  run: (args, { json = false }) => withDatabase(parseAccount('reseller', args, answerIn(json))),
})

const answerIn =
  (isJson: boolean): Answer =>
  (values, text) =>
    print(isJson ? `${JSON.stringify(values, null, 2)}\n` : text)

/** Parses the command before the database is opened, so that a typing error opens nothing. */
function parseOwner(args: string[], { json = false, ...options }: OwnerOptions): Work {
  const [action = '', email, ...more] = args
  const answer = answerIn(json)
  const isComplete = email !== undefined && more.length === 0
  for (const option of Object.keys(options)) {
    if (!optionsOf[action]?.includes(option))
      throw new UsageError(`keyward owner ${action} does not take this option.`)
  }
  if (isComplete && action === 'create') return parseCreate(email, options, answer)
  if (isComplete && action === 'invite') return parseInvite(email, options, answer)
  if (isComplete && action === 'disable') return parseDisable(email, options, answer)
  if (isComplete && action === 'enable') return parseEnable(email, answer)
  if (isComplete && action === 'delete') return parseDelete(email, options.yes ?? false, answer)
  if (isComplete && action === 'limits') return parseLimits(email, options, answer)
  if (action === 'list' && email === undefined) return list(json)
  if (isComplete && action === 'sign-out') return signOut(email, answer)
  return parseAccount('owner', args, answer)
}

/** The options of the actions that take more than --json. */
const optionsOf: Readonly<Record<string, readonly string[]>> = {
  create: ['name', 'password-stdin'],
  invite: ['name'],
  disable: ['programs'],
  delete: ['yes'],
  limits: ['apps', 'licenses', 'mails', 'reset'],
}

function parseAccount(kind: Kind, [action, email, ...more]: string[], answer: Answer): Work {
  const isComplete = email !== undefined && more.length === 0
  if (isComplete && action === 'reset-password') return resetPassword(kind, email, answer)
  if (isComplete && action === 'reset-second-factor') return resetSecondFactor(kind, email, answer)
  throw new UsageError(`Usage: ${forms[kind]}.`)
}

const list =
  (isJson: boolean): Work =>
  async (database, { defaultPlan }) => {
    const all: object[] = []
    for await (const owners of listOwners(database)) {
      if (isJson) all.push(...owners.map((owner) => toValues(owner, defaultPlan)))
      else print(owners.map((owner) => describe(owner, defaultPlan)).join(''))
    }
    if (isJson) print(`${JSON.stringify({ owners: all }, null, 2)}\n`)
  }

const resetPassword =
  (kind: Kind, typed: string, answer: Answer): Work =>
  async (database) => {
    const reset = kind === 'owner' ? resetOwnerPassword : resetResellerPassword
    const done = await reset(database, systemClock, typed)
    if (!done) throw missing(kind, typed)
    const { email, password } = done
    const note = 'It is not shown again. Every session has ended.\n'
    answer({ email, password }, `${email}: the new password is ${password}\n${note}`)
  }

const resetSecondFactor =
  (kind: Kind, typed: string, answer: Answer): Work =>
  async (database) => {
    const reset = kind === 'owner' ? resetOwnerFactors : resetResellerFactors
    const done = await reset(database, systemClock, typed)
    if (!done) throw missing(kind, typed)
    const { email, isRemoved } = done
    const what = isRemoved ? 'the second factor is removed' : 'there was no second factor'
    const note = 'Every session has ended. The password stays.\n'
    answer({ email, removed: isRemoved }, `${email}: ${what}\n${note}`)
  }

const signOut =
  (typed: string, answer: Answer): Work =>
  async (database) => {
    const done = await signOutOwner(database, systemClock, typed)
    if (!done) throw missing('owner', typed)
    answer({ email: done.email }, `${done.email}: every session has ended\n`)
  }

const missing = (kind: Kind, email: string) =>
  new OperatorError(`There is no ${kind} with the email ${email}.`)

/** A vendor as programs of the operator read it. */
function toValues(owner: ListedOwner, defaultPlan: Plan) {
  const { plan, until } = planOf(owner.premium_until, systemClock.now(), defaultPlan)
  return {
    ...{ email: owner.email, name: owner.name, owner: owner.id },
    ...{ plan, planUntil: toIsoOrNull(until), apps: owner.app_count },
    createdAt: toIso(owner.created_at),
    disabledAt: toIsoOrNull(owner.disabled_at),
    limits: { apps: owner.max_apps, licensesPerApp: owner.max_licenses_per_app, mails: owner.max_mails },
  }
}

function describe(owner: ListedOwner, defaultPlan: Plan): string {
  const { plan, until } = planOf(owner.premium_until, systemClock.now(), defaultPlan)
  const end = until === null ? '' : ` until ${toIso(until)}`
  const state = owner.disabled_at === null ? '' : `, disabled since ${toIso(owner.disabled_at)}`
  return `${owner.email}: ${owner.name}, ${plan}${end}, since ${toIso(owner.created_at)}${state}\n`
}

/** Deletes a vendor account once the operator has typed its address, or with `--yes`. */
export const parseDelete =
  (typed: string, isSure: boolean, answer: Answer) =>
  async (database: Database): Promise<void> => {
    const found = await findVendor(database, typed)
    if (!found) throw noOwner(typed)
    if (!isSure && !(await confirms(typed, found.apps))) throw new OperatorError('Nothing was deleted.')
    const { modules } = await import('../modules/index.ts')
    const done = await deleteVendor(database, modules, systemClock, typed)
    if (!done) throw noOwner(typed)
    const { email, ownerId, person } = done
    const kept = person ? '' : '; the person stays, as a member of another vendor'
    answer({ email, owner: ownerId, deleted: true, person }, `${email}: deleted${kept}\n`)
  }

/** The question goes to standard error: the output is the result alone. */
async function confirms(email: string, apps: number): Promise<boolean> {
  const lines = createInterface({ input: process.stdin })
  process.stderr.write(
    `This deletes ${email} for ever, with ${apps} apps and their licenses, end users, resellers and orders.\nType the address to go on: `,
  )
  try {
    for await (const line of lines) return normalizeEmail(line) === normalizeEmail(email)
    return false
  } finally {
    lines.close()
    process.stdin.unref?.()
  }
}

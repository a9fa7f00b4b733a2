import type { Config } from '../config.ts'
import { systemClock, toIso } from '../core/clock.ts'
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
import { resetResellerFactors, resetResellerPassword } from '../modules/resellers/resellers.operator.ts'
import { command, print, UsageError, withDatabase } from './command.ts'

type Work = (database: Database, config: Config) => Promise<void>

const forms = {
  owner:
    'keyward owner list, keyward owner reset-password <email>, keyward owner reset-second-factor <email>, or keyward owner sign-out <email>',
  reseller: 'keyward reseller reset-password <email>, or keyward reseller reset-second-factor <email>',
}

export const ownerCommand = command({
  name: 'owner',
  forms: [
    { form: 'owner list', does: ["list every vendor's account"] },
    { form: 'owner reset-password <email>', does: ['set and print a new password, and end every session'] },
    {
      form: 'owner reset-second-factor <email>',
      does: ['remove the second factor of a person who lost it, and', 'end every session'],
    },
    { form: 'owner sign-out <email>', does: ['end every session of the vendor'] },
  ],
  run: (args) => withDatabase(parseAccount('owner', args)),
})

export const resellerCommand = command({
  name: 'reseller',
  forms: [
    {
      form: 'reseller reset-password <email>',
      does: ['set and print a new password, and end every session'],
    },
    { form: 'reseller reset-second-factor <email>', does: ['the same for a reseller'] },
  ],
  run: (args) => withDatabase(parseAccount('reseller', args)),
})

/** Parses the command before the database is opened, so that a typing error opens nothing. */
function parseAccount(kind: 'owner' | 'reseller', args: string[]): Work {
  const [action, email, ...more] = args
  if (kind === 'owner' && action === 'list' && email === undefined) return list
  const isComplete = email !== undefined && more.length === 0
  if (isComplete && action === 'reset-password') return resetPassword(kind, email)
  if (isComplete && action === 'reset-second-factor') return resetSecondFactor(kind, email)
  if (isComplete && kind === 'owner' && action === 'sign-out') return signOut(email)
  throw new UsageError(`Usage: ${forms[kind]}.`)
}

const list: Work = async (database, { defaultPlan }) => {
  for await (const owners of listOwners(database)) {
    print(owners.map((owner) => describe(owner, defaultPlan)).join(''))
  }
}

const resetPassword =
  (kind: 'owner' | 'reseller', email: string): Work =>
  async (database) => {
    const reset = kind === 'owner' ? resetOwnerPassword : resetResellerPassword
    const done = await reset(database, systemClock, email)
    if (!done) throw missing(kind, email)
    print(`${done.email}: the new password is ${done.password}\n`)
    print('It is not shown again. Every session has ended.\n')
  }

const resetSecondFactor =
  (kind: 'owner' | 'reseller', email: string): Work =>
  async (database) => {
    const reset = kind === 'owner' ? resetOwnerFactors : resetResellerFactors
    const done = await reset(database, systemClock, email)
    if (!done) throw missing(kind, email)
    print(
      `${done.email}: ${done.isRemoved ? 'the second factor is removed' : 'there was no second factor'}\n`,
    )
    print('Every session has ended. The password stays.\n')
  }

const signOut =
  (email: string): Work =>
  async (database) => {
    const done = await signOutOwner(database, systemClock, email)
    if (!done) throw missing('owner', email)
    print(`${done.email}: every session has ended\n`)
  }

const missing = (kind: 'owner' | 'reseller', email: string) =>
  new OperatorError(`There is no ${kind} with the email ${email}.`)

function describe({ email, name, premium_until, created_at: since }: ListedOwner, defaultPlan: Plan): string {
  const { plan, until } = planOf(premium_until, systemClock.now(), defaultPlan)
  const end = until === null ? '' : ` until ${toIso(until)}`
  return `${email}: ${name}, ${plan}${end}, since ${toIso(since)}\n`
}

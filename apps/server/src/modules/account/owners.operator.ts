import { limits } from '@keyward/contract'
import { type Clock, day } from '../../core/clock.ts'
import type { Seal } from '../../core/crypto.ts'
import { newId, newPassword, normalizeEmail } from '../../core/ids.ts'
import { operator } from '../../core/networks/caller.ts'
import { OperatorError } from '../../core/operator-error.ts'
import { Passwords } from '../../core/passwords/passwords.ts'
import { type Database, transactAsOperator, type WriteTransaction } from '../../db/index.ts'
import * as accounts from '../accounts/accounts.service.ts'
import { queueMail, withdrawMails } from '../mail/mail.queue.ts'
import * as owners from '../owners/owners.service.ts'
import { replaceResets } from '../password-resets/password-resets.access.ts'
import { toWelcomeMail } from './account.text.ts'

export interface NewOwner {
  email: string
  name: string
  /** Undefined: the person chooses it with a link. */
  password?: string | undefined
}

export interface MadeOwner {
  email: string
  ownerId: string
  /** The path of a link with which the person chooses a password; null if the operator chose it. */
  path: string | null
  until: number | null
}

type Opened = Pick<Database, 'db'>

const taken = ({ email }: NewOwner) =>
  new OperatorError(`There is already an account with the email ${email}.`)

/** Creates a vendor account, also where registration is closed. */
export async function createOwner({ db }: Opened, clock: Clock, person: NewOwner): Promise<MadeOwner> {
  if (await accounts.findAccountByEmail(db, normalizeEmail(person.email))) throw taken(person)
  const create = await creationOf(clock, person)
  return transactAsOperator(db, { ownerId: create.ownerId, now: create.now }, create.write, {
    onTaken: () => taken(person),
  })
}

/** How the link reaches the person; `consoleUrl` undefined: the operator passes it on. */
export interface Invitation extends Omit<NewOwner, 'password'> {
  mail: { consoleUrl: string; seal: Seal } | undefined
}

/** Creates a vendor account and mails the link, or replaces the link of a person who has never signed in. */
export async function inviteOwner(
  { db }: Opened,
  clock: Clock,
  { mail, ...person }: Invitation,
): Promise<MadeOwner> {
  const found = await accounts.findAccountByEmail(db, normalizeEmail(person.email))
  const own = found && (await owners.findOwnerOf(db, found.id))
  if (found && !own) throw taken(person)
  const create = own ? undefined : await creationOf(clock, person)
  const now = clock.now()
  const ownerId = own?.id ?? create?.ownerId ?? null
  const invite = async (write: WriteTransaction): Promise<MadeOwner> => {
    const made = create ? await create.write(write) : await invitedAgain(write, person)
    const { path, until } = made
    const account = await accounts.findAccountByEmail(write.tx, normalizeEmail(person.email))
    if (mail && account && path !== null && until !== null) {
      await withdrawMails(write, account.id)
      const text = toWelcomeMail({ to: account.email, link: `${mail.consoleUrl}${path}` })
      const about = { ownerId, accountId: account.id, about: account.id, expiresAt: until - day }
      await queueMail(mail, write, { ...text, ...about })
    }
    return made
  }
  return transactAsOperator(db, { ownerId, now }, invite, { onTaken: () => taken(person) })
}

async function invitedAgain(write: WriteTransaction, person: NewOwner): Promise<MadeOwner> {
  const found = await accounts.findAccountByEmail(write.tx, normalizeEmail(person.email))
  const account = found && (await accounts.lockAccount(write.tx, found.id))
  const own = account && (await owners.findOwnerOf(write.tx, account.id))
  const isNew = account?.last_owner_id === null && account.email_confirmed_at === null
  if (!own || !isNew) throw taken(person)
  const until = write.now + limits.invitationDays * day
  const path = await replaceResets(write, account.id, until)
  write.record('owner.password_reset_requested', account.id, {})
  return { email: account.email, ownerId: own.id, path, until }
}

/** Hashes the password before the transaction. Without one, nobody knows the password that is stored. */
async function creationOf(clock: Clock, { email, name, password }: NewOwner) {
  const passwordHash = await new Passwords().hash(password ?? newPassword(), operator)
  const now = clock.now()
  const [accountId, ownerId] = [newId('acc'), newId('own')]
  const write = async (write: WriteTransaction): Promise<MadeOwner> => {
    await accounts.insertAccount(write.tx, {
      ...{ id: accountId, name, email, email_normalized: normalizeEmail(email) },
      ...{ password_hash: passwordHash, created_at: now },
    })
    await owners.insertOwner(write.tx, { id: ownerId, account_id: accountId, name, created_at: now })
    await owners.setByOperator(write.tx, { ownerId }, { mails_trusted: 1 })
    write.record('owner.registered', accountId, {})
    const until = password === undefined ? now + limits.invitationDays * day : null
    const path = until === null ? null : await replaceResets(write, accountId, until)
    return { email, ownerId, path, until }
  }
  return { ownerId, now, write }
}

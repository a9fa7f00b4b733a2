import type { NotificationSettings } from '@keyward/contract'
import type { PersonActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import type { Db } from '../../db/index.ts'
import type { NotificationSettingsRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getAccount, updateAccount } from '../accounts/accounts.service.ts'
import * as repo from './notifications.repo.ts'
import { columnOf, lookedFor } from './notifications.rules.ts'

type Wanted = Omit<NotificationSettings, 'newSignIn'>

const kinds = Object.keys(columnOf) as (keyof Wanted)[]

/** What a person wants who has chosen nothing. */
const defaults: Wanted = {
  keysRunningOut: false,
  quotaRunningOut: false,
  licensesExpiring: false,
  refusalsRising: false,
  webhookFailing: true,
  ordersWaiting: false,
  weeklySummary: false,
}

export async function getNotifications(db: Db, actor: PersonActor): Promise<NotificationSettings> {
  const account = await getAccount(db, actor.actorId)
  const row = await repo.findSettings(db, personAt(actor))
  return { newSignIn: account.new_sign_in_mail === 1, ...(row ? wantedOf(row) : defaults) }
}

export function updateNotifications(
  ctx: Ctx,
  actor: PersonActor,
  { newSignIn, ...change }: Partial<NotificationSettings>,
): Promise<NotificationSettings> {
  const person = personAt(actor)
  const update: Parameters<Ctx['tx']>[1] = async (write) => {
    const { tx } = write
    const wanted = wantedOf(await repo.lockSettings(tx, person))
    const before = { newSignIn: (await getAccount(tx, actor.actorId)).new_sign_in_mail === 1, ...wanted }
    const changed = kinds.filter((kind) => change[kind] !== undefined)
    const columns = Object.fromEntries(changed.map((kind) => [columnOf[kind], change[kind] ? 1 : 0]))
    if (changed.length > 0) await repo.updateSettings(tx, person, columns)
    if (newSignIn !== undefined)
      await updateAccount(tx, actor.actorId, { new_sign_in_mail: newSignIn ? 1 : 0 })
    if (lookedFor.some((kind) => change[kind] && !before[kind])) await repo.lookSoon(tx, actor, write.now)
    const after = await getNotifications(tx, actor)
    write.record('notifications.updated', actor.actorId, { before, after })
    return after
  }
  return ctx.tx(actor, update, { onGone: () => problem('unauthorized') }) as Promise<NotificationSettings>
}

const personAt = ({ actorId, ownerId }: PersonActor): repo.Person => ({ accountId: actorId, ownerId })

const wantedOf = (row: NotificationSettingsRow): Wanted =>
  Object.fromEntries(kinds.map((kind) => [kind, row[columnOf[kind]] === 1])) as unknown as Wanted

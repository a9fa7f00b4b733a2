import { limits } from '@keyward/contract'
import { day } from '../../core/clock.ts'
import type { MailSubject } from '../description.ts'
import * as repo from './customer-mails.repo.ts'
import { isWanted, type Subject } from './customer-mails.rules.ts'

/** A release tells each customer once, however much later it is told again. */
export const keptUntil = (now: number, kind: repo.MailView['kind']): number | null =>
  kind === 'security' ? null : now + limits.customerMailDays * day

export const toSubject = (row: repo.MailView): Subject => ({
  license: row.license,
  isUserBanned: row.user_banned === 1,
  renews: row.renews === 1,
  wantsMails: row.mails === 1,
  isOffered: row.is_offered === 1,
})

/** What the queue of mails asks and tells about mails to customers. */
export const customerMailEnds: MailSubject = {
  /** A license may be renewed while its mail waits for the mail server. */
  async isCurrent({ db }, id) {
    const [row] = await repo.readMails(db, [id])
    return row !== undefined && isWanted(row, toSubject(row), await repo.readSettings(db, row.app_id))
  },
  async onEnded({ tx, now }, id, end) {
    const [row] = await repo.readMails(tx, [id])
    if (!row) return
    const state = end === 'expired' ? 'missed' : end
    await repo.endMails(tx, [id], { state, done_at: now, kept_until: keptUntil(now, row.kind) })
  },
}

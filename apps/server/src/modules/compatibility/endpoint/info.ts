import { accessEnd } from '../../../db/stored-end.ts'
import type { Ctx } from '../../../service/ctx.ts'
import { readSignedIn } from '../compatibility.repo.ts'

/** What is written for an end that never comes: ten years, and no more than 32-bit programs can read. */
const lifetimeSeconds = 315_569_260
const latest = 2 ** 31 - 1
/** The last second of the year 9999, which is the last one that Python can show. */
const lastSecond = 253_402_300_799

const toSeconds = (ms: number): number => Math.floor(ms / 1000)

/** The `info` of a sign-in: texts, but for `timeleft`. The end includes grace days, because access does. */
export async function toInfo(
  { db, clock }: Pick<Ctx, 'db' | 'clock'>,
  user: { _id: string; username: string; createdAt: string; lastLoginAt: string | null },
  { hwid, address }: { hwid: string | undefined; address: string },
) {
  const row = await readSignedIn(db, user._id)
  const now = toSeconds(clock.now())
  const end = toSeconds(row ? accessEnd(row, clock.now()) : 0)
  const expiry = end > lastSecond ? Math.max(now, Math.min(now + lifetimeSeconds, latest)) : end
  const stored = row?.hwid?.startsWith('sha256:') ? '' : row?.hwid
  return {
    username: user.username,
    subscriptions: [
      {
        subscription: 'default',
        key: row?.key ?? null,
        expiry: String(expiry),
        timeleft: Math.max(0, expiry - now),
        level: '1',
      },
    ],
    ip: address,
    hwid: hwid ?? stored ?? '',
    createdate: String(toSeconds(Date.parse(user.createdAt))),
    lastlogin: String(user.lastLoginAt === null ? now : toSeconds(Date.parse(user.lastLoginAt))),
  }
}

import { customerPageAddress, limits, toPersonName } from '@keyward/contract'
import { day, minute } from '../../core/clock.ts'
import type { WriteTransaction } from '../../db/index.ts'
import type { Allowance, Attempts } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import { type Face, senderOf, withFace } from '../mail/mail.face.ts'
import { queueMail } from '../mail/mail.queue.ts'
import { mailedProduct } from '../mail/mail.text.ts'
import { readMailTerms } from '../owners/owners.service.ts'
import { type LinkPurpose, toLinkMail } from './customer-links.text.ts'
import { insertLink, proofOf, type Subject } from './customer-sessions.access.ts'

const lifetimeMs = limits.customerLinkMinutes * minute
/** A link is not mailed any more in its last minutes. */
const mailedForMs = lifetimeMs - 5 * minute

/** Anybody can ask for the links of an address that they know, and a vendor's people for those of end users. */
const linksOfOne: Allowance = {
  name: 'customer links',
  max: limits.customerLinksOfOnePerDay,
  windowMs: day,
}
/** Links are not among the day's mails to buyers: strangers would use these up, and a link cannot wait for the next day. */
const linksOfApp: Allowance = {
  name: 'customer links of app',
  max: limits.customerLinksPerDay,
  windowMs: day,
}

/** Where anyone can register, those of all apps of a vendor on the free plan. */
const linksOfVendor = { name: 'customer links of vendor', windowMs: day }

interface NewLink {
  app: { id: string; ownerId: string; appId: string; name: string }
  face: Face
  subject: Subject
  /** The password or the address that the link depends on. */
  secret: string
  email: string
  customerId: string | null
  purpose: LinkPurpose
  locale: string | undefined
  /** Never from a request, whose Host header the sender controls. */
  consoleUrl: string
}

/**
 * Mails a link to the page of an app, which opens what it names once. Returns how many milliseconds it would have to wait for
 * the next day; 0 if it is mailed, `unconfirmed` if the vendor may mail nobody yet.
 */
export async function mailLink(
  { ctx, attempts }: { ctx: Pick<Ctx, 'seal' | 'config' | 'clock'>; attempts: Pick<Attempts, 'addIn'> },
  write: WriteTransaction,
  { app, face, subject, secret, email, customerId, purpose, locale, consoleUrl }: NewLink,
): Promise<number | 'unconfirmed'> {
  const { id: appId, ownerId } = app
  const { isConfirmed, perDay, hasOwnWords } = await readMailTerms(ctx, write.tx, { ownerId })
  if (!isConfirmed) return 'unconfirmed'
  for (const [allowance, counted] of [
    [linksOfOne, subject.id],
    [linksOfApp, appId],
    ...(hasOwnWords ? [] : [[{ ...linksOfVendor, max: perDay }, ownerId] as const]),
  ] as const) {
    const { count, window_ends } = await attempts.addIn(write.tx, allowance, 1, counted)
    if (count > allowance.max) return Math.max(1, window_ends - write.now)
  }
  const expiresAt = write.now + lifetimeMs
  const proof = proofOf(ctx.seal, subject, secret)
  const token = await insertLink(write, { ownerId, appId, subject, proof, expiresAt })
  // The token follows `#`, so it appears in no log and no Referer.
  const link = `${customerPageAddress(consoleUrl, app.appId)}#${token}`
  const name = hasOwnWords ? app.name : (toPersonName(app.name) ?? mailedProduct)
  const plain = toLinkMail({ to: email, link, app: name, purpose, locale })
  const mail = hasOwnWords ? withFace(plain, { ...face, name: face.name ?? senderOf(name) }) : plain
  await queueMail(ctx, write, { ...mail, ownerId, customerId, expiresAt: write.now + mailedForMs })
  return 0
}

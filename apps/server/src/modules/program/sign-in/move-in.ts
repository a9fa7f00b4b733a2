import { customKey, unlimited } from '@keyward/contract'
import { lastInstant } from '../../../core/clock.ts'
import { sha256 } from '../../../core/crypto.ts'
import { normalizeKey, normalizeName, toTypedKey } from '../../../core/ids.ts'
import { Problem, problem } from '../../../core/problem.ts'
import type { WriteTransaction } from '../../../db/index.ts'
import { reserveLicenses } from '../../apps/apps.access.ts'
import { isHashOnly, type Machine } from '../../devices/devices.rules.ts'
import { findByUsername } from '../../end-users/end-users.access.ts'
import { toNewUsername } from '../../end-users/end-users.rules.ts'
import { claimSpellings, toPlainName, wasUsed } from '../../entitlements/former-names.ts'
import { changeAccess } from '../../entitlements/grants.ts'
import type { OldEndUser, OldSignIn } from '../../lazy-move/old-provider.ts'
import { findLicenseByKey } from '../../licenses/licenses.access.ts'
import { issueLicenses } from '../../licenses/licenses.issue.ts'
import { untilDate } from '../../licenses/licenses.rules.ts'
import { getLimits } from '../../owners/owners.service.ts'
import { type SessionFacts, toActor } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { toDevice } from './admit.ts'
import { redeemForNewUser } from './new-user.ts'

interface Sent {
  machine: Machine | undefined
  address: string
}

/** A name or key that a program sent, with what the old provider needs to judge it. */
interface Newcomer {
  /** As it was typed. */
  text: string
  /** Null for a key. */
  password: string | null
  signIn: OldSignIn
}

/** Takes over the end user of a key that this app never had, if the old provider accepts the key. */
export async function moveKeyIn(
  deps: ProgramDeps,
  session: SessionFacts,
  sent: Sent & { licenseKey: string },
): Promise<void> {
  const key = customKey.safeParse(sent.licenseKey).data
  if (key === undefined) return
  const signIn = { call: 'license', key, hwid: hwidOf(sent) } as const
  await moveIn(deps, session, sent, { text: key, password: null, signIn })
}

/** Takes over the end user of a name that this app never had, if the old provider accepts name and password. */
export async function moveNameIn(
  deps: ProgramDeps,
  session: SessionFacts,
  sent: Sent & { username: string; password: string },
): Promise<void> {
  const { username, password } = sent
  // The old servers remove what looks like a tag: `frodo<b>` would open the account of `frodo`.
  if (/<(?!\s)/.test(username)) return
  const signIn = { call: 'login', username, password, hwid: hwidOf(sent) } as const
  await moveIn(deps, session, sent, { text: username, password, signIn })
}

const hwidOf = ({ machine }: Sent): string | undefined =>
  machine && !isHashOnly(machine) ? machine.hwid : undefined

async function moveIn(
  deps: ProgramDeps,
  session: SessionFacts,
  sent: Sent,
  newcomer: Newcomer,
): Promise<void> {
  const { moves } = deps
  const { app } = session
  const settings = await moves.find(app)
  if (!settings) return
  const { caller } = await toDevice(deps, app, sent)
  if (caller.blocked || caller.isRefusedVpn) return
  const { text, password, signIn } = newcomer
  const subject = `${app.id}\n${signIn.call}\n${signIn.call === 'login' ? normalizeName(text) : normalizeKey(text)}`
  const proof = sha256(JSON.stringify([password, signIn.hwid]))
  await moves.oneByOne(subject, proof, async () => {
    if (await existed(deps, app.id, text)) return
    await moves.ask(app, settings, { address: sent.address, signIn }, (endUser) =>
      takeOver(deps, session, { sent, newcomer, endUser }),
    )
  })
}

/** Whether the app has or had this text as a name or a key: at the old provider, a key is a name too. */
async function existed({ ctx }: Pick<ProgramDeps, 'ctx'>, appId: string, text: string): Promise<boolean> {
  const [name, key] = [normalizeName(text), toTypedKey(text)]
  for (const spelling of new Set([name, toPlainName(name)]))
    if (await findByUsername(ctx.db, appId, spelling)) return true
  if (await findLicenseByKey(ctx.db, appId, key)) return true
  return wasUsed(ctx.db, appId, { key: key.exact, name })
}

/** Stores name, password, device and time left in one transaction. Returns why it could not; undefined once it did. */
async function takeOver(
  deps: ProgramDeps,
  session: SessionFacts,
  { sent, newcomer, endUser }: { sent: Sent; newcomer: Newcomer; endUser: OldEndUser },
): Promise<string | undefined> {
  const { ctx, moves } = deps
  const { app } = session
  const { text, password } = newcomer
  const isByKey = password === null
  const key = isByKey ? text : customKey.safeParse(endUser.key).data
  const expiresAt = Math.min(lastInstant, endUser.expiresAt)
  if (expiresAt <= ctx.clock.now()) return 'The end user has no time left.'
  const account = { account: app.id, address: sent.address }
  const actor = toActor(session, sent.address)
  try {
    const user = {
      username: isByKey ? text : toNewUsername(text),
      passwordHash: isByKey ? null : await ctx.passwords.hash(password, account),
      email: null,
      // It is bound here, and signs in next.
      device: { ...(await toDevice(deps, app, { ...sent, isSignIn: false })), address: sent.address },
    }
    const { maxLicensesPerApp } = await getLimits(ctx, app)
    const take = async (write: WriteTransaction) => {
      const { id, isNew } = await licenseOf(write, session, { key, expiresAt, most: maxLicensesPerApp })
      await claimSpellings(write.tx, app.id, text)
      const signIn = { call: isByKey ? 'license' : 'register', app, version: session.version } as const
      const admitted = await redeemForNewUser(write, signIn, id, user)
      const { id: clientId } = admitted.endUser
      if (!isNew)
        await changeAccess(write, app, { clients: [clientId] }, () => ({
          added: [{ kind: 'end', until: expiresAt, source_kind: 'import', source_id: null }],
        }))
      write.record('end_user.moved', clientId, { licenseId: id }, app.id)
      moves.countMoved(write, app)
    }
    await ctx.tx(actor, take, { onTaken: () => problem('usernameTaken') })
    return undefined
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    // Another server took the same end user over at the same time: its row counts.
    if (error.code === 'usernameTaken' && (await findByUsername(ctx.db, app.id, normalizeName(text))))
      return undefined
    return `Keyward refused it: ${error.message}`
  }
}

/** The license that the end user brings, or a new one without a known key. The transaction has not locked any. */
async function licenseOf(
  { tx, now }: WriteTransaction,
  { app }: SessionFacts,
  { key, expiresAt, most }: { key: string | undefined; expiresAt: number; most: number },
): Promise<{ id: string; isNew: boolean }> {
  if (key !== undefined) {
    const known = await findLicenseByKey(tx, app.id, toTypedKey(key))
    if (known) return { id: known.id, isNew: false }
    if (await wasUsed(tx, app.id, { key: toTypedKey(key).exact, name: normalizeName(key) }))
      throw problem('keyNotFound')
  }
  if (most !== unlimited && !(await reserveLicenses(tx, app, app.id, 1, most, now)))
    throw problem('plan_limit_reached')
  const issuer = { ownerId: app.ownerId, appId: app.id, now }
  const [license] = await issueLicenses(tx, issuer, [{ key, terms: untilDate(expiresAt) }])
  if (!license) throw problem('internal')
  return { id: license.id, isNew: true }
}

import { Readable } from 'node:stream'
import {
  type BodyOf,
  type CustomerPage,
  canonicalLocale,
  type endpoints,
  type MessageKey,
} from '@keyward/contract'
import type { CustomerActor } from '../../core/actor.ts'
import { FileAnswer } from '../../core/answers.ts'
import { minute, toIso } from '../../core/clock.ts'
import { newId, normalizeName } from '../../core/ids.ts'
import type { LeakedPasswords } from '../../core/passwords/leaked-passwords.ts'
import { type Problem, problem } from '../../core/problem.ts'
import type { Db } from '../../db/index.ts'
import { type Allowance, type Attempts, guardPassword } from '../../service/attempts.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { ActivityLog } from '../activity/activity.log.ts'
import { messageOf } from '../apps/apps.messages.ts'
import type { BlockTables } from '../blocklist/block-tables.ts'
import * as sessions from '../customer-sessions/customer-sessions.access.ts'
import { findById, findByUsername, findImportedCost } from '../end-users/end-users.access.ts'
import { ofTestOrder } from '../licenses/licenses.rules.ts'
import { findLogo } from '../mail/mail.face.ts'
import type { PasswordResets } from '../password-resets/password-resets.service.ts'
import { findFace } from '../profiles/profiles.access.ts'
import { type AnswerSigner, accountOf, findKey, type ProgramReads } from '../program/program.service.ts'
import * as repo from './customer-page.repo.ts'

export interface CustomerPageDeps {
  ctx: Ctx
  attempts: Attempts
  activity: ActivityLog
  blocks: BlockTables
  reads: ProgramReads
  signer: AnswerSigner
  leaked: LeakedPasswords
  resets: PasswordResets
}

const wrongLinks: Allowance = { name: 'customer link', max: 30, windowMs: 15 * minute }
/** Sign-ins with the right key, password or link: each stores a session. */
const signIns: Allowance = { name: 'customer sign-in', max: 100, windowMs: 60 * minute }

/** 404 without such an app, and where its page is off. */
export async function getPage(db: Db, idOrAppId: string): Promise<repo.PageRow> {
  const page = await repo.findPage(db, idOrAppId)
  if (!page) throw problem('not_found')
  return page
}

export async function toPage({ config, db }: Ctx, page: repo.PageRow): Promise<CustomerPage> {
  const { name, support, shop, logo } = await findFace(db, page.id)
  return {
    app: { appId: page.app_id, name: page.name, brandColor: page.brand_color },
    ...{ vendor: name ?? page.name, support, shop, logo: logo?.digest ?? null },
    mail: config.passwordReset === 'mail',
  }
}

/** The logo of a page, by its digest. */
export async function getLogo({ db }: Ctx, idOrAppId: string, digest: string): Promise<FileAnswer> {
  const { logo } = await findFace(db, (await getPage(db, idOrAppId)).id)
  const found = logo?.digest === digest ? await findLogo(db, logo) : undefined
  if (!found) throw problem('not_found')
  return new FileAnswer({
    ...{ name: 'logo', type: found.type, content: Readable.from([found.bytes]) },
    headers: {
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; sandbox",
    },
  })
}

/** The app's text for a refusal, in a language if one is named. */
export async function textsOf(
  { reads }: Pick<CustomerPageDeps, 'reads'>,
  page: Pick<repo.PageRow, 'id'>,
  locale: string | undefined,
): Promise<(code: MessageKey, reason?: string | null) => string> {
  const app = await reads.app(page.id)
  const texts = app ? await reads.texts(app, locale && canonicalLocale(locale)) : []
  return (code, reason) => messageOf(texts, code, reason)
}

export type Proof = BodyOf<typeof endpoints.customerPage.login>

interface Proved {
  subject: sessions.Subject
  /** What the session depends on; it ends when this changes. */
  proof: string
  /** The link to spend. */
  link?: string
}

/** Signs a customer in by what it has proved. */
export async function signIn(deps: CustomerPageDeps, idOrAppId: string, sent: Proof & { address: string }) {
  const { ctx, attempts } = deps
  const page = await getPage(ctx.db, idOrAppId)
  const proved = await prove(deps, page, sent)
  const { subject, proof, link } = proved
  const actor: CustomerActor = {
    ...{ kind: 'customer', ownerId: page.owner_id, apps: new Set([page.id]), appId: page.id },
    ...{ subject, byMail: link !== undefined, sessionId: newId('ses'), address: sent.address },
    endsAt: 0,
  }
  await attempts.count(signIns, subject.id, sent.address)
  const { token, expiresAt } = await ctx.tx(actor, async (write) => {
    if (link !== undefined && !(await sessions.takeLink(write.tx, link, write.now))) throw linkInvalid()
    write.record('customer.signed_in', subject.id, { kind: subject.kind }, page.id)
    return sessions.openSession(write, { actor, proof })
  })
  return { token, kind: subject.kind, expiresAt: toIso(expiresAt) }
}

function prove(
  deps: CustomerPageDeps,
  page: repo.PageRow,
  { licenseKey, username, password, mailToken, locale, address }: Proof & { address: string },
): Promise<Proved> {
  if (licenseKey !== undefined) return byKey(deps, page, { licenseKey, locale, address })
  if (mailToken !== undefined) return byLink(deps, page, mailToken, address)
  return byPassword(deps, page, { username: username ?? '', password: password ?? '', locale, address })
}

/** Unknown keys count like those that programs send. */
async function byKey(
  deps: CustomerPageDeps,
  page: repo.PageRow,
  { licenseKey, locale, address }: { licenseKey: string; locale: string | undefined; address: string },
): Promise<Proved> {
  const { ctx } = deps
  const license = await findKey(deps, { app: page }, { licenseKey, machine: undefined, address }).catch(
    async (error: Problem) => {
      if (error.code !== 'keyNotFound') throw error
      throw problem('keyNotFound', { message: (await textsOf(deps, page, locale))('keyNotFound') })
    },
  )
  const user = license.client_id === null ? undefined : await findById(ctx.db, page.id, license.client_id)
  const refuse = banned(deps, page, locale)
  if (user?.banned === 1) throw await refuse('userBanned', user.ban_reason)
  if (page.test_licenses === 0 && license.test === 1) throw await refuse('keyBanned', ofTestOrder)
  if (license.banned === 1) throw await refuse('keyBanned', license.ban_reason)
  return { subject: { kind: 'license', id: license.id }, proof: '' }
}

/** Wrong passwords count like those that programs send, and unknown names cost as much. */
async function byPassword(
  deps: CustomerPageDeps,
  page: repo.PageRow,
  {
    username,
    password,
    locale,
    address,
  }: { username: string; password: string; locale: string | undefined; address: string },
): Promise<Proved> {
  const { ctx, attempts } = deps
  const name = normalizeName(username)
  const account = accountOf({ app: page }, name)
  const client = await guardPassword(attempts, { account, address }, async (turn) => {
    const [found, cost] = [
      await findByUsername(ctx.db, page.id, name),
      await findImportedCost(ctx.db, page.id),
    ]
    const isRight = await ctx.passwords.verifyEvenly(found?.password_hash, password, turn, cost)
    return isRight ? found : undefined
  })
  if (!client) throw problem('customer_login_failed')
  const subject = { kind: 'end_user' as const, id: client.id }
  const user = await findById(ctx.db, page.id, client.id)
  if (user?.banned === 1) throw await banned(deps, page, locale)('userBanned', user.ban_reason)
  return { subject, proof: sessions.proofOf(ctx.seal, subject, client.password_hash) }
}

async function byLink(
  { ctx, attempts }: CustomerPageDeps,
  page: repo.PageRow,
  token: string,
  address: string,
): Promise<Proved> {
  await attempts.check(wrongLinks, address)
  const { db, seal, clock } = ctx
  const link = await sessions.findLink({ db, seal, now: clock.now() }, page.id, token)
  if (!link) {
    await attempts.count(wrongLinks, address)
    throw linkInvalid()
  }
  return { subject: link.subject, proof: link.proof, link: link.id }
}

const linkInvalid = () => problem('customer_link_invalid')

const banned =
  (deps: CustomerPageDeps, page: repo.PageRow, locale: string | undefined) =>
  async (code: 'userBanned' | 'keyBanned', reason: string | null): Promise<Problem> =>
    problem(code, { message: (await textsOf(deps, page, locale))(code, reason) })

/** Resolves the token of a session to its holder. */
export async function authenticateCustomer(
  { db, seal, clock }: Ctx,
  token: string,
  address: string,
): Promise<CustomerActor | undefined> {
  const session = await sessions.findSession({ db, seal, now: clock.now() }, token)
  if (!session) return undefined
  const { id: sessionId, ownerId, appId, subject, byMail, expiresAt: endsAt } = session
  return {
    ...{ kind: 'customer', ownerId, apps: new Set([appId]), appId, subject },
    ...{ byMail, sessionId, endsAt, address },
  }
}

export async function signOut({ ctx }: CustomerPageDeps, actor: CustomerActor): Promise<void> {
  await ctx.tx(actor, async (write) => {
    await sessions.endSession(write.tx, actor.sessionId)
    write.record('customer.signed_out', actor.subject.id, {}, actor.appId)
  })
}

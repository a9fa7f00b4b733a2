import type { ActionName, Client, OfflineActivation, OfflineRequest } from '@keyward/contract'
import type { CustomerActor, OwnerScope, VendorActor } from '../../core/actor.ts'
import { day, toIso, toIsoOrNull } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { type Page, toPagination } from '../../core/paging.ts'
import { invalid, problem } from '../../core/problem.ts'
import type { WriteTransaction } from '../../db/index.ts'
import { never } from '../../db/stored-end.ts'
import type { OfflineActivationRow } from '../../db/tables.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { ActivityLog } from '../activity/activity.log.ts'
import { getApp, hasRoomForFile } from '../apps/apps.access.ts'
import type { BlockTables } from '../blocklist/block-tables.ts'
import { type NameOf, readNames } from '../customers/names.access.ts'
import { freeDevice } from '../devices/devices.access.ts'
import { isEndUserOf, lockEndUser } from '../end-users/end-users.access.ts'
import { getEndUser } from '../end-users/end-users.service.ts'
import { nextStatement, updateEndUser } from '../entitlements/end-user-rows.ts'
import { featuresUntil } from '../entitlements/terms.rules.ts'
import { getLimits } from '../owners/owners.service.ts'
import {
  type AdmittedMachine,
  type AnswerSigner,
  type AppFacts,
  admitOfflineMachine,
  noteRefusedActivation,
  type ProgramReads,
} from '../program/program.service.ts'
import * as repo from './offline-activations.repo.ts'
import {
  refusalText,
  requestHash,
  statusOf,
  toCode,
  toCodeHash,
  toRequest,
} from './offline-activations.rules.ts'

export interface OfflineActivationDeps {
  ctx: Ctx
  activity: ActivityLog
  blocks: BlockTables
  reads: ProgramReads
  signer: AnswerSigner
}

export async function listActivations(
  { ctx }: Pick<OfflineActivationDeps, 'ctx'>,
  scope: OwnerScope,
  idOrAppId: string,
  { client, ...page }: Page & { client?: string | undefined },
) {
  const app = await getApp(ctx.db, scope, idOrAppId)
  if (client !== undefined && !(await isEndUserOf(ctx.db, scope, client))) throw problem('not_found')
  const filter = { appId: app.id, clientId: client }
  const { rows, total } = await repo.pageActivations(ctx.db, scope, filter, page)
  const clients = rows.map((row) => row.client_id)
  const nameOf = await readNames(ctx.db, scope, clients)
  const now = ctx.clock.now()
  return {
    activations: rows.map((row) => toActivation(row, now, nameOf)),
    pagination: toPagination(page, total, false),
  }
}

interface ActivationRequest {
  request: string
  days?: number | undefined
  /** Throws where this caller may not activate machines of an end user. */
  refuse?: (write: WriteTransaction, endUserId: string) => Promise<void>
}

interface Issued {
  file: string
  activation: OfflineActivation
  client: Client
}

/** Makes the file for a request. */
export async function activate(
  deps: OfflineActivationDeps,
  actor: VendorActor | CustomerActor,
  idOrAppId: string,
  sent: ActivationRequest,
): Promise<Issued> {
  const { ctx, reads, signer } = deps
  const app = await reads.app((await getApp(ctx.db, actor, idOrAppId)).id)
  if (!app) throw problem('not_found')
  const request = toRequest(app.appId, sent.request)
  const { maxLicensesPerApp } = await getLimits(ctx, actor)
  const limits = { days: sent.days, max: maxLicensesPerApp }
  const store = async (write: WriteTransaction, admitted: AdmittedMachine) => {
    await sent.refuse?.(write, admitted.endUser.id)
    return issue(ctx, write, { actor, app, request, ...limits }, admitted)
  }
  const admitted = admitOfflineMachine(deps, { actor, app }, request, store)
  const { id, claims } = await admitted.catch((error: unknown) => {
    throw toOwnersProblem(deps, app, request, error)
  })
  const file = await signer.signActivation(app, claims)
  const issued = { file, ...(await read(ctx, actor, id)) }
  note(deps, actor, issued, 'end_user.activated_offline')
  return issued
}

interface Limits {
  days: number | undefined
  /** How many licenses the plan allows; files outside of a license count as one each. */
  max: number
}

interface Issue extends Limits {
  actor: VendorActor | CustomerActor
  app: AppFacts
  request: OfflineRequest
}

/** Stores the activation of an admitted end user, whose row is locked, and returns the claims of its file. */
async function issue(
  ctx: Ctx,
  write: WriteTransaction,
  { actor, app, request, days, max }: Issue,
  { endUser, displayedEnd, deviceId, licenseId }: AdmittedMachine,
) {
  const { tx, now } = write
  const known = await repo.findByRequest(tx, actor, app.id, requestHash(request))
  if (known && (known.ended_by !== null || known.client_id !== endUser.id)) {
    throw problem('offline_request_used')
  }
  if (!known && !(await hasRoomForFile(tx, app.id, max, now))) {
    throw problem('plan_limit_reached', {
      message: `Your plan allows ${max} machines per app that run with a file outside of a license`,
    })
  }
  const limit = days === undefined ? never : now + days * day
  const end = Math.min(endUser.expiresAt, limit)
  const exp = end === never ? null : Math.floor(end / 1000)
  const until = exp === null ? never : exp * 1000
  const id = known?.id ?? newId('ofa')
  const code = toCode(ctx.seal.digest(`offline-deactivation:${id}`))
  const bound = { device_id: deviceId, license_id: licenseId, code_hash: toCodeHash(code), issued_at: now }
  if (known) {
    // An earlier file for the same request may last longer.
    await repo.updateActivation(tx, actor, id, { ...bound, until: Math.max(until, known.until) })
  } else {
    await repo.insertActivation(tx, {
      ...bound,
      id,
      until,
      owner_id: actor.ownerId,
      app_id: app.id,
      client_id: endUser.id,
      hwid_hash: request.hwidHash,
      request_hash: requestHash(request),
      created_at: now,
      ended_at: null,
      ended_by: null,
    })
  }
  const machine = { clientId: endUser.id, hwidHash: request.hwidHash }
  await repo.replaceOthers(tx, actor, machine, id, now)
  await repo.trimReplaced(tx, actor, machine, replacedKept)
  const seq = await nextStatement(tx, actor, endUser.id, { column: 'activation_until', until })
  const ended = until === never ? null : until
  write.record('end_user.activated_offline', endUser.id, { activationId: id, until: ended }, app.id)
  const claims = {
    iss: 'keyward',
    aud: app.appId,
    sub: endUser.id,
    hwid: request.hwidHash,
    nonce: request.nonce,
    iat: Math.floor(now / 1000),
    exp,
    seq,
    ...featuresUntil(endUser, exp),
    username: endUser.username,
    term: endUser.term,
    expiresAt: displayedEnd,
    deactivation: code,
  }
  return { id, claims }
}

/** A program that is activated again and again must not fill the table. */
const replacedKept = 20

/** Programs get the code of a refusal; the owner gets the reason, and a reference that explains it. */
function toOwnersProblem(
  { activity }: OfflineActivationDeps,
  app: AppFacts,
  { licenseKey }: OfflineRequest,
  error: unknown,
): unknown {
  const refused = noteRefusedActivation(activity, app, licenseKey, error)
  if (!refused) return error
  const { code, details, reference } = refused
  const message = refusalText(code) ?? (error as Error).message
  return problem('offline_refused', {
    message,
    issues: [{ path: 'request', message }],
    details: { ...details, reason: code, reference },
  })
}

/** Frees the device of the machine that shows this code, once. */
export async function deactivate(
  deps: Pick<OfflineActivationDeps, 'ctx' | 'activity'>,
  actor: VendorActor,
  idOrAppId: string,
  code: string,
): Promise<{ activation: OfflineActivation; client: Client }> {
  const { ctx } = deps
  const app = await getApp(ctx.db, actor, idOrAppId)
  const codeHash = toCodeHash(code)
  const id = await ctx.tx(actor, async (write) => {
    const found = await repo.findByCode(write.tx, actor, app.id, codeHash)
    if (!found || !(await lockEndUser(write.tx, actor, found.client_id))) throw unknownCode()
    const locked = await repo.findByCode(write.tx, actor, app.id, codeHash)
    if (!locked) throw unknownCode()
    await end(write, actor, locked)
    return locked.id
  })
  const ended = await read(ctx, actor, id)
  note(deps, actor, ended, 'end_user.deactivated_offline')
  return ended
}

/** The activity log shows what the machines of end users do; offline ones cannot report it themselves. */
function note(
  { activity }: Pick<OfflineActivationDeps, 'activity'>,
  { ownerId }: OwnerScope,
  { client }: { client: Client },
  kind: ActionName,
): void {
  activity.note({ ownerId, appId: client.app._id, clientId: client._id, kind })
}

const unknownCode = () => invalid('code', 'No machine of this app has this code')

async function end(write: WriteTransaction, actor: VendorActor, row: OfflineActivationRow): Promise<void> {
  const { tx, now } = write
  if (row.ended_by === 'code') throw problem('offline_code_used')
  if (row.ended_by === 'replaced') throw problem('offline_code_replaced')
  const { client_id: clientId, hwid_hash: hwidHash, device_id: deviceId, app_id: appId } = row
  await repo.deactivateAll(tx, actor, { clientId, hwidHash }, now)
  const deviceFreed = deviceId !== null && (await freeDevice(tx, actor, clientId, deviceId))
  const activation_until = await repo.latestEnd(tx, actor, clientId)
  await updateEndUser(tx, actor, clientId, { activation_until })
  write.record('end_user.deactivated_offline', clientId, { activationId: row.id, deviceFreed }, appId)
  if (deviceFreed) write.record('device.freed', deviceId, { endUserId: clientId }, appId)
}

async function read(ctx: Ctx, scope: OwnerScope, id: string) {
  const row = await repo.findActivation(ctx.db, scope, id)
  if (!row) throw problem('not_found')
  const nameOf = await readNames(ctx.db, scope, [row.client_id])
  return {
    activation: toActivation(row, ctx.clock.now(), nameOf),
    client: await getEndUser(ctx, scope, row.client_id),
  }
}

const toActivation = (row: repo.ActivationView, now: number, nameOf: NameOf): OfflineActivation => ({
  _id: row.id,
  client: { _id: row.client_id, username: row.username, name: nameOf(row.client_id, row.username) },
  username: row.username,
  licenseKey: row.license_key,
  device: row.device_id === null ? null : { _id: row.device_id, name: row.device_name },
  hwidHash: row.hwid_hash,
  status: statusOf(row, now),
  until: row.until === never ? null : toIso(row.until),
  createdAt: toIso(row.created_at),
  issuedAt: toIso(row.issued_at),
  endedAt: toIsoOrNull(row.ended_at),
})

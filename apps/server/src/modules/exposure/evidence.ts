import { Readable } from 'node:stream'
import type { OwnerScope } from '../../core/actor.ts'
import { FileAnswer } from '../../core/answers.ts'
import { toIso, toIsoOrNull } from '../../core/clock.ts'
import { problem } from '../../core/problem.ts'
import type { Ctx } from '../../service/ctx.ts'
import { listShown } from '../customers/faces.access.ts'
import type { AnswerSigner, ProgramReads } from '../program/program.service.ts'
import * as repo from './exposure.repo.ts'
import { exposureOf, getFix } from './exposure.service.ts'

interface EvidenceDeps {
  ctx: Ctx
  reads: Pick<ProgramReads, 'app'>
  signer: Pick<AnswerSigner, 'signEvidence'>
}

/** A statement takes a limited number of values. */
const namedAtOnce = 1000

/**
 * Who was told of a security fix and when, signed with the app's key. It names devices and customers that still exist;
 * the numbers of each day count the others, too.
 */
export async function signEvidence(
  { ctx, reads, signer }: EvidenceDeps,
  scope: OwnerScope,
  id: string,
): Promise<FileAnswer> {
  const fix = await getFix(ctx, scope, id)
  const { row, security } = fix
  const app = await reads.app(row.app_id)
  if (!app) throw problem('not_found')
  const { lists } = ctx.database
  const { told, days, versions, ...counts } = await exposureOf(ctx, fix)
  const devices = await repo.listToldDevices(lists, id)
  const customers = await repo.listToldCustomers(lists, id)
  const shown = new Map<string, { id: string; email: string }>()
  for (let at = 0; at < customers.length; at += namedAtOnce) {
    const ids = customers.slice(at, at + namedAtOnce).map(({ customer_id }) => customer_id)
    for (const [id, customer] of await listShown(lists, scope, ids)) shown.set(id, customer)
  }
  const statement = {
    ...{ iss: 'keyward', aud: app.appId, iat: Math.floor(ctx.clock.now() / 1000) },
    app: { _id: app.id, appId: app.appId, name: app.name },
    release: {
      ...{ _id: id, version: row.version, releasedAt: toIso(row.released_at) },
      ...{ withdrawnAt: toIsoOrNull(row.withdrawn_at), security },
    },
    exposure: { ...counts, versions },
    told,
    days,
    devices: devices.map(({ device_id, version, at }) => ({ _id: device_id, version, toldAt: toIso(at) })),
    customers: customers.flatMap((customer) => {
      const { id: _id, email } = shown.get(customer.customer_id) ?? {}
      const { devices, at, state: mail } = customer
      return _id === undefined ? [] : [{ _id, email, devices, toldAt: toIso(at), mail }]
    }),
  }
  const jws = await signer.signEvidence(app, statement)
  return new FileAnswer({
    name: `evidence-${row.version}.jws`,
    type: 'application/jose',
    content: Readable.from([jws]),
  })
}

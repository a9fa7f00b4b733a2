// On PostgreSQL in the full run: other slices send nearly all of its statements there.
import { describe, expect, test } from 'vitest'
import { permissionsOf, toPersonActor } from '../../src/core/actor.ts'
import { deleteAccount } from '../../src/modules/account/account.deletion.ts'
import { modules } from '../../src/modules/index.ts'
import { Invitations } from '../../src/modules/members/invitations.service.ts'
import { removeMember, updateMember } from '../../src/modules/members/members.service.ts'
import { resetPlatform } from '../../src/modules/platform/platform.service.ts'
import { Attempts } from '../../src/service/attempts.ts'
import type { Ctx } from '../../src/service/ctx.ts'
import { makeApp, refusal, signUp } from '../actors.ts'
import { ownerForEach, serverForAll } from '../fixtures.ts'
import { ctxOf } from '../harness.ts'
import { addMember, invite, newAddress } from '../member-actor.ts'

const on = serverForAll()
const owner = ownerForEach(on)

/** A person at the vendor, as a call sees it that began now. */
async function actorOf(accountId: string, role: 'owner' | 'support') {
  const sessions = on.database.db.selectFrom('owner_sessions').select('id')
  const { id: sessionId } = await sessions.where('account_id', '=', accountId).executeTakeFirstOrThrow()
  return toPersonActor(
    { role, permissions: permissionsOf(role), apps: null },
    { accountId, ownerId: owner.id, sessionId, address: '192.0.2.1' },
  )
}

const makeOwner = async (id: string) =>
  expect((await owner.call('POST', `/members/${id}/make-owner`, {})).status).toBe(200)

test('handing a vendor over withdraws open invitations, whose links the former owner knows', async () => {
  const { _id, email, token } = await invite(owner, { role: 'manager' })
  const elsewhere = await invite(await signUp(on))
  const next = await addMember(on, owner)
  await makeOwner(next._id)
  const { members } = (await next.call('GET', '/members')).json.data
  expect(members).toMatchObject([{ email: owner.email, role: 'manager' }])
  const accept = (secret: string) =>
    on.call('POST', '/auth/invitations/accept', {
      body: { token: secret, name: 'Grace', password: 'battery staple' },
    })
  expect(refusal(await accept(token))).toBe('invitation_invalid')
  expect((await accept(elsewhere.token)).status).toBe(200)
  const audit = on.database.db.selectFrom('audit').select(['action', 'detail']).where('target_id', '=', _id)
  expect((await audit.orderBy('id').execute()).at(-1)).toMatchObject({
    action: 'member.removed',
    detail: expect.stringContaining(email),
  })
})

describe('a call that began before the vendor was handed over', () => {
  test('changes neither the team of the next owner nor anything of the vendor', async () => {
    const app = await makeApp(owner)
    const [next, other] = [await addMember(on, owner), await addMember(on, owner, { role: 'viewer' })]
    const former = await actorOf(owner.accountId, 'owner')
    const ctx = ctxOf(on)
    const attempts = new Attempts(ctx)
    const mailer = { send: async () => {}, close: () => {} }
    const rest = { mailer, consoleUrl: () => '', onError: () => {} }
    const invitations = new Invitations({ ctx, attempts, ...rest })
    await makeOwner(next._id)
    const before = (await next.call('GET', '/members')).json
    for (const change of [
      () => invitations.invite(former, { email: newAddress(), role: 'manager' }),
      () => updateMember(ctx, former, other._id, { role: 'manager' }),
      () => removeMember(ctx, former, other._id),
      () => resetPlatform({ ctx, attempts, modules }, former, { address: '192.0.2.1' }),
    ]) {
      await expect(change()).rejects.toMatchObject({ code: 'permission_missing' })
    }
    expect((await next.call('GET', '/members')).json).toEqual(before)
    expect((await next.call('GET', `/apps/${app._id}`)).status).toBe(200)
  })

  test('does not delete the account of its next owner', async () => {
    const next = await addMember(on, owner)
    const actor = await actorOf(next.accountId, 'support')
    const { tx, ...others } = ctxOf(on)
    let handover: Promise<void> | undefined
    const ctx: Ctx = {
      ...others,
      tx: async (...call) => {
        handover ??= makeOwner(next._id)
        await handover
        return tx(...call)
      },
    }
    const proof = { password: next.password, address: '192.0.2.1' }
    const deletion = deleteAccount(ctx, new Attempts(ctx), actor, proof)
    await expect(deletion).rejects.toMatchObject({ code: 'conflict' })
    expect((await next.call('GET', '/auth/profile')).json.data.user.role).toBe('owner')
  })
})

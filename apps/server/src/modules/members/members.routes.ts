import { endpoints } from '@keyward/contract'
import { personOf } from '../../core/actor.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { Invitations } from './invitations.service.ts'
import * as service from './members.service.ts'

export function membersRoutes(mount: Mount, parts: Parts): void {
  const { ctx } = parts
  const invitations = new Invitations(parts)
  const { members } = endpoints
  mount(members.list, 'owner', async ({ actor }) => ({ members: await service.listMembers(ctx, actor) }))
  mount(members.invite, 'owner', ({ actor, body }) => invitations.invite(personOf(actor), body))
  mount(members.update, 'owner', async ({ actor, params, body }) => ({
    member: await service.updateMember(ctx, personOf(actor), params.id, body),
  }))
  mount(members.remove, 'owner', async ({ actor, params }) => {
    await service.removeMember(ctx, personOf(actor), params.id)
    return {}
  })
  mount(members.makeOwner, 'owner', async ({ actor, params }) => {
    await service.makeOwner(ctx, personOf(actor), params.id)
    return {}
  })
}

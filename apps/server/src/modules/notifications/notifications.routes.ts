import { endpoints } from '@keyward/contract'
import { personOf } from '../../core/actor.ts'
import { WithMessage } from '../../core/answers.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import { EmailConfirmations } from './email-confirmations.ts'
import * as service from './notifications.service.ts'

export function notificationsRoutes(mount: Mount, parts: Parts): void {
  const { ctx } = parts
  const confirmations = new EmailConfirmations(parts)
  const { notifications } = endpoints
  mount(notifications.get, 'owner', ({ actor }) => service.getNotifications(ctx.db, personOf(actor)))
  mount(notifications.update, 'owner', async ({ actor, body }) => {
    const updated = await service.updateNotifications(ctx, personOf(actor), body)
    return new WithMessage(updated, 'Notifications updated successfully')
  })
  mount(notifications.confirmEmail, 'owner', async ({ actor, body }) => {
    const person = personOf(actor)
    if (body.token === undefined) await confirmations.request(person)
    else await confirmations.confirm(person, body.token)
    return { confirmed: body.token !== undefined }
  })
}

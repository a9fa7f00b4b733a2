import { endpoints } from '@keyward/contract'
import { personOf } from '../../core/actor.ts'
import { WithMessage } from '../../core/answers.ts'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './app-mails.service.ts'

export function appMailsRoutes(mount: Mount, parts: Parts): void {
  const { appMails } = endpoints
  const { ctx } = parts
  mount(appMails.get, 'owner', ({ actor, params, query }) =>
    service.getAppMail(ctx, actor, params.id, query.locale),
  )
  mount(appMails.update, 'owner', ({ actor, params, body }) =>
    service.updateAppMail(ctx, actor, params.id, body),
  )
  mount(appMails.reset, 'owner', ({ actor, params, query }) =>
    service.resetAppMail(ctx, actor, params.id, query.locale),
  )
  mount(appMails.test, 'owner', async ({ actor, params, body }) => {
    await service.testAppMail(parts, personOf(actor), params.id, body.locale)
    const isSent = ctx.config.smtpUrl !== undefined
    return new WithMessage(
      {},
      isSent ? 'The test is on its way to you' : 'This server has no mail server. The test is in its log.',
    )
  })
}

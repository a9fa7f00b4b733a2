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
    service.getAppMail(ctx, actor, { app: params.id, ...query }),
  )
  mount(appMails.update, 'owner', ({ actor, params, query, body: { locale, ...mail } }) =>
    service.updateAppMail(ctx, actor, { app: params.id, ...query, locale }, mail),
  )
  mount(appMails.reset, 'owner', ({ actor, params, query }) =>
    service.resetAppMail(ctx, actor, { app: params.id, ...query }),
  )
  mount(appMails.test, 'owner', async ({ actor, params, query, body }) => {
    await service.testAppMail(parts, personOf(actor), { app: params.id, ...query, ...body })
    const isSent = ctx.config.smtpUrl !== undefined
    return new WithMessage(
      {},
      isSent ? 'The test is on its way to you' : 'This server has no mail server. The test is in its log.',
    )
  })
}

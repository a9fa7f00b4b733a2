import { endpoints } from '@keyward/contract'
import type { Mount } from '../../http/mount.ts'
import type { Parts } from '../module.ts'
import * as service from './customer-mails.service.ts'
import { showUnsubscribe, unsubscribe } from './unsubscribe.ts'

export function customerMailsRoutes(mount: Mount, { ctx }: Parts): void {
  const { customerMails, unsubscribing } = endpoints
  mount(customerMails.get, 'owner', ({ actor, params }) => service.getSettings(ctx, actor, params.id))
  mount(customerMails.update, 'owner', ({ actor, params, body }) =>
    service.updateSettings(ctx, actor, params.id, body),
  )
  mount(customerMails.sample, 'owner', ({ actor, params, query }) =>
    service.sampleMail(ctx, actor, { app: params.id, ...query }),
  )
  mount(customerMails.list, 'owner', ({ actor, query }) => service.listMails(ctx, actor, query))
  mount(unsubscribing.show, 'public', async ({ sent }) => showUnsubscribe(sent.headers['accept-language']))
  mount(unsubscribing.stop, 'public', ({ params, address, sent }) =>
    unsubscribe(ctx, { token: params.token, address, languages: sent.headers['accept-language'] }),
  )
}

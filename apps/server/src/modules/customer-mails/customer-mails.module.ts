import type { Module } from '../module.ts'
import { customerMailEnds } from './customer-mails.ends.ts'
import { customerMailsRoutes } from './customer-mails.routes.ts'
import { createCustomerMails } from './customer-mails.worker.ts'

export const customerMails: Module = {
  tables: {
    customer_mail_settings: {},
    customer_mails: { key: ['seq'], expires: 'kept_until', isOfApp: true },
  },
  mails: { cml: customerMailEnds },
  parts: (parts) => ({
    customerMails: createCustomerMails(parts, {
      onError: parts.onError,
      pollMs: parts.options.deliveriesEveryMs,
    }),
  }),
  routes: customerMailsRoutes,
  queues: ({ customerMails }) => ({ 'customer mails': customerMails.wake }),
  work: ({ customerMails }) => {
    customerMails.start()
    return customerMails.end
  },
}

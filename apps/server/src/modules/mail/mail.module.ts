import type { Module } from '../module.ts'
import { expireMails, MailOutbox } from './mail.outbox.ts'
import { loseKey, mailContext } from './mail.queue.ts'

export const mail: Module = {
  tables: {
    mails: { key: ['id'], expires: 'kept_until', sealed: { sealed: mailContext } },
  },
  loseKey,
  tidy: expireMails,
  parts: (parts) => ({
    mails: new MailOutbox({ ...parts, pollMs: parts.options.deliveriesEveryMs }),
  }),
  queues: ({ mails }) => ({ mails: mails.wake.bind(mails) }),
  work: ({ mails }) => {
    mails.start()
    return () => mails.end()
  },
}

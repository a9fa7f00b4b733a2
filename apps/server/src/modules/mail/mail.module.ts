import type { Module } from '../module.ts'
import { MailOutbox } from './mail.outbox.ts'
import { loseKey, mailContext } from './mail.queue.ts'

export const mail: Module = {
  tables: {
    mails: { key: ['id'], expires: 'kept_until', sealed: { sealed: mailContext } },
  },
  loseKey,
  parts: (parts) => ({
    mails: new MailOutbox({
      ...parts,
      pollMs: parts.options.deliveriesEveryMs,
      isCurrent: (id) => parts.mailEnds.isCurrent(id),
      onDropped: (...dropped) => parts.mailEnds.onDropped(...dropped),
      onEnded: (...ended) => parts.mailEnds.onEnded(...ended),
    }),
  }),
  queues: ({ mails }) => ({ mails: mails.wake.bind(mails) }),
  work: ({ mails }) => {
    mails.start()
    return () => mails.end()
  },
}

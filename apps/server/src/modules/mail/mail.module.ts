import type { Module } from '../module.ts'
import { MailOutbox } from './mail.outbox.ts'

export const mail: Module = {
  parts: (parts) => ({
    mails: new MailOutbox({
      ...parts,
      pollMs: parts.options.deliveriesEveryMs,
      isCurrent: (id) => parts.mailEnds.isCurrent(id),
      onEnded: (...ended) => parts.mailEnds.onEnded(...ended),
    }),
  }),
  queues: { mails: ({ mails }) => mails.wake() },
  work: ({ mails }) => {
    mails.start()
    return () => mails.end()
  },
}

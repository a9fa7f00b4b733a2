import type { Module } from '../module.ts'
import { PasswordResets } from './password-resets.service.ts'

export const passwordResets: Module = {
  parts: (parts) => ({
    resets: new PasswordResets({
      ...parts,
      pollMs: parts.options.deliveriesEveryMs,
      requestsOf: (kind) => (kind === 'owner' ? parts.ownerRequests : parts.resellerRequests),
      sendLink: (...asked) => parts.sendLink(...asked),
    }),
  }),
  queues: { 'reset requests': ({ resets }) => resets.queue.wake() },
  work: ({ resets: { queue } }) => {
    queue.start()
    return () => queue.end()
  },
}

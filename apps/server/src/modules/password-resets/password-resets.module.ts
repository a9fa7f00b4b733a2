import type { Module } from '../module.ts'
import { PasswordResets } from './password-resets.service.ts'
import { loseKey } from './reset-requests.repo.ts'
import { resetRequestContext } from './reset-requests.ts'

export const passwordResets: Module = {
  tables: {
    password_resets: { key: ['id'], expires: 'expires_at' },
    reset_requests: { key: ['id'], expires: 'expires_at', sealed: { sealed: resetRequestContext } },
  },
  loseKey,
  parts: (parts) => ({
    resets: new PasswordResets({
      ...parts,
      pollMs: parts.options.deliveriesEveryMs,
      requestsOf: (kind) => (kind === 'owner' ? parts.ownerRequests : parts.resellerRequests),
      sendLink: (...asked) => parts.sendLink(...asked),
    }),
  }),
  queues: ({ resets: { queue } }) => ({ 'reset requests': queue.wake.bind(queue) }),
  work: ({ resets: { queue } }) => {
    queue.start()
    return () => queue.end()
  },
}

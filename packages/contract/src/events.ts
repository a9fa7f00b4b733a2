import { endpoint } from './endpoint.ts'
import { none } from './shared.ts'

export const events = {
  stream: endpoint({
    method: 'GET',
    path: '/events',
    access: 'owner',
    permission: 'self',
    tag: 'Events',
    summary:
      'Server-sent events: sends a `change` event, at most one per second, when data of this owner has changed, whose data names the nouns that changed as in the names of the audit log, or `*` for all, and likewise an `activity` event when the activity log has grown. Sends a comment every 25 seconds as a heartbeat. The stream ends with the session',
    data: none,
    file: ['text/event-stream'],
    errors: ['rate_limited'],
  }),
}

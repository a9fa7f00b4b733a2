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
      'Server-sent events: a `change`, at most one a second, whenever something of this owner has changed and is worth reading anew. It says nothing of what it was. A comment every 25 seconds shows that the line is up; the stream ends with the session',
    data: none,
    file: ['text/event-stream'],
    errors: ['rate_limited'],
  }),
}

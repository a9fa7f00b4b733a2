import { isUnanswered, messageOf } from '../lib/api/call.ts'
import { toast } from './toast.tsx'

/** Says what failed: in the server's own words if it answered, else in the caller's, with the reason below. */
export function toastFailure(error: unknown, fallback: string) {
  if (isUnanswered(error)) toast.error(fallback, { description: messageOf(error, '') })
  else toast.error(messageOf(error, fallback))
}

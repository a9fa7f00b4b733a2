import { isNetworkError, messageOf } from '../lib/api/call.ts'
import { toast } from './toast.tsx'

/** Shows the server's message; without a response, the caller's text with the reason below. */
export function toastFailure(error: unknown, fallback: string) {
  if (isNetworkError(error)) toast.error(fallback, { description: messageOf(error, '') })
  else toast.error(messageOf(error, fallback))
}

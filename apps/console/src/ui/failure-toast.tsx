import { hasCode, hasFieldErrors, isEditConflict, isNetworkError, messageOf } from '../lib/api/call.ts'
import { failingWriter, onWritten, type Writer } from '../lib/api/write.ts'
import { toast } from './toast.tsx'

const conflictId = 'edit-conflict'

/** The last failure of each form, which its next failure replaces and its success ends. */
const failures = new WeakMap<Writer, string | number>()
onWritten((writer) => {
  const id = failures.get(writer)
  if (id !== undefined) toast.dismiss(id)
})

/** Shows a title with the server's message below. */
export function toastFailed(title: string, error: unknown, fallback: string) {
  show(title, error, messageOf(error, fallback))
}

/** Shows the server's message; without a response, the caller's text with the reason below. */
export function toastFailure(error: unknown, fallback: string) {
  if (isNetworkError(error)) show(fallback, error, messageOf(error, ''))
  else show(messageOf(error, fallback), error)
}

/** For forms, which show at their fields what the server says of these. */
export const toastUnlessFields = (fallback: string) => (error: unknown) => {
  if (!hasFieldErrors(error)) toastFailure(error, fallback)
}

function show(title: string, error: unknown, description?: string) {
  // No toast: the sign-in page reports an expired session, and closing the identity dialog is a choice, not a failure.
  if (hasCode(error, 'unauthorized') || hasCode(error, 'confirm_identity')) return
  // The message of an edit conflict asks the user to open the dialog again, so it stays until they do.
  const staying = isEditConflict(error) && { id: conflictId, duration: Number.POSITIVE_INFINITY }
  const writer = failingWriter()
  const last = writer && failures.get(writer)
  const id = toast.error(announced(title), {
    description: description && announced(description),
    ...(last !== undefined && { id: last }),
    ...staying,
  })
  if (writer) failures.set(writer, id)
}

/** Screen readers announce an alert at once, also beside an open dialog. */
const announced = (text: string) => <span role="alert">{text}</span>

export const dismissConflict = () => void toast.dismiss(conflictId)

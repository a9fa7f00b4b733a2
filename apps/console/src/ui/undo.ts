import { queryClient } from '../lib/api/query-client.ts'
import type { Undo } from './take-back.ts'
import { toast } from './toast.tsx'

/** The Undo button of a toast, which works once. */
export function undoButton(takesBack: () => unknown) {
  let isUsed = false
  const onClick = () => {
    if (isUsed) return
    isUsed = true
    void queryClient
      .getMutationCache()
      .build(queryClient, { mutationFn: async () => takesBack() })
      .execute(undefined)
  }
  return { duration: 10_000, action: { label: 'Undo', onClick } }
}

/** The Undo button of a toast; none without a change to undo. */
export function undoOption(undo: Undo) {
  return undo.rows.length === 0 ? {} : undoButton(() => load(undo))
}

async function load(undo: Undo) {
  try {
    await (await import('./take-back.ts')).takeBack(undo)
  } catch {
    toast.error('Undo Failed', { description: 'Check your connection and try again.' })
  }
}

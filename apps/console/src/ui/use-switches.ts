import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useWrite } from '../lib/api/write.ts'
import { toastFailure } from './failure-toast.tsx'
import { toast } from './toast.tsx'
import { undoButton } from './undo.ts'

export interface Switches<Settings extends object> {
  /** The query with the settings. */
  queryKey: QueryKey
  /** The settings as the cache has them. */
  read: () => Settings | undefined
  /** Shows a change before the server has it. */
  show: (change: Partial<Settings>) => void
  send: (change: Partial<Settings>) => Promise<unknown>
  done: string
  failed: string
}

/** Saves a switch at once, with Undo, and reverts it when the server rejects it. Two switches may be saved at the same time. */
export function useSwitches<Settings extends object>(switches: Switches<Settings>) {
  const { queryKey, read, show, send, done, failed } = switches
  const client = useQueryClient()
  const take = async (change: Partial<Settings>) => {
    await client.cancelQueries({ queryKey, exact: true })
    const now = read()
    const names = Object.keys(change) as (keyof Settings)[]
    const before = Object.fromEntries(names.map((name) => [name, now ? now[name] : !change[name]]))
    show(change)
    return before as Partial<Settings>
  }
  const revert = (error: unknown, before: Partial<Settings>) => {
    show(before)
    toastFailure(error, failed)
    // Without a response it is unknown whether the server made the change.
    void client.invalidateQueries({ queryKey, exact: true })
  }
  const save = {
    mutationFn: send,
    lane: (change: Partial<Settings>) => JSON.stringify([queryKey, Object.keys(change)]),
    onMutate: take,
    onError: (error: Error, _: unknown, before?: Partial<Settings>) => revert(error, before ?? {}),
  }
  const undo = useWrite({ ...save, waits: true, onSuccess: () => toast.success('Undone') })
  return useWrite({
    ...save,
    onSuccess: (_, __, before) =>
      toast.success(
        done,
        undoButton(() => undo.mutate(before)),
      ),
  })
}

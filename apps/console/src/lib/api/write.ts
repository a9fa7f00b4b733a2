import { type UseMutationOptions, type UseMutationResult, useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { isRepeatOfWrite, noteWrite } from '../browser/gesture.ts'
import { createListeners } from '../browser/listeners.ts'

/** Names the form, dialog, switch or menu that writes. */
export type Writer = object

/** The ends of the writes that run, by lane or writer. */
const running = new Map<Writer | string, Promise<unknown>>()
const successListeners = createListeners<[writer: Writer]>()
let failing: Writer | undefined

/** The listener runs when a write has succeeded. */
export const onWritten = successListeners.subscribe

/** Whose write has failed, while its handler runs. */
export const failingWriter = () => failing

interface WriteOptions<Data, Variables, Context> extends UseMutationOptions<Data, Error, Variables, Context> {
  /** Writes of different lanes may run at the same time; of one lane only one runs, across all components. The default is a lane per component. */
  lane?: (variables: Variables) => string
  /** Follows a write that runs in its lane; others are dropped. */
  waits?: boolean
}

/**
 * The only way of forms, dialogs, switches and menus to change something: a second submit is not sent while the first
 * one runs, nor by the second click of a double click, after which the page may show something else there.
 */
export function useWrite<Data, Variables = void, Context = unknown>({
  lane,
  waits,
  ...options
}: WriteOptions<Data, Variables, Context>): UseMutationResult<Data, Error, Variables, Context> {
  const writer = useRef<Writer>({}).current
  const mutation = useMutation<Data, Error, Variables, Context>({
    ...options,
    onSuccess: (...args) => {
      successListeners.notify(writer)
      return options.onSuccess?.(...args)
    },
    onError: (...args) => {
      failing = writer
      try {
        return options.onError?.(...args)
      } finally {
        failing = undefined
      }
    },
  })
  const { mutateAsync } = mutation

  const write: typeof mutateAsync = (...args) => {
    const at = lane?.(args[0] as Variables) ?? writer
    // Never settles: whatever follows a submit follows the first one.
    const earlier = running.get(at)
    if (earlier && waits) return earlier.then(() => write(...args))
    if (earlier || isRepeatOfWrite()) return new Promise(() => {})
    noteWrite()
    const sent = mutateAsync(...args).finally(() => running.delete(at))
    running.set(
      at,
      sent.catch(() => {}),
    )
    return sent
  }
  return {
    ...mutation,
    mutateAsync: write,
    mutate: (...args) => void write(...args).catch(() => {}),
  }
}

import { type UseMutationOptions, type UseMutationResult, useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { repeatedSince } from '../browser/gesture.ts'
import { createListeners } from '../browser/listeners.ts'

/** Names the form, dialog, switch or menu that writes. */
export type Writer = object

const successListeners = createListeners<[writer: Writer]>()
let failing: Writer | undefined
let wroteAt = Number.NEGATIVE_INFINITY

/** The listener runs when a write has succeeded. */
export const onWritten = successListeners.subscribe

/** Whose write has failed, while its handler runs. */
export const failingWriter = () => failing

/** The second click of a double click, and a key that is held, ask for nothing new. */
function isRepeatOfWrite(): boolean {
  const since = repeatedSince()
  return since !== undefined && wroteAt >= since
}

/**
 * The only way of forms, dialogs, switches and menus to change something: a second submit is not sent while the first
 * one runs, nor by the second click of a double click, after which the page may show something else there.
 */
export function useWrite<Data, Variables = void, Context = unknown>(
  options: UseMutationOptions<Data, Error, Variables, Context>,
): UseMutationResult<Data, Error, Variables, Context> {
  const writer = useRef({ isRunning: false }).current
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
    // Never settles: whatever follows a submit follows the first one.
    if (writer.isRunning || isRepeatOfWrite()) return new Promise(() => {})
    writer.isRunning = true
    wroteAt = performance.now()
    return mutateAsync(...args).finally(() => {
      writer.isRunning = false
    })
  }
  return {
    ...mutation,
    mutateAsync: write,
    mutate: (...args) => void write(...args).catch(() => {}),
  }
}

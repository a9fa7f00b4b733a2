import { useRef, useState } from 'react'
import { isRepeatOfWrite, noteWrite } from '../browser/gesture.ts'

export interface AttemptOptions<Variables, Data> {
  mutationFn: (variables: Variables) => Promise<Data>
  onSuccess?: (data: Data, variables: Variables) => unknown
  onError?: (error: unknown, variables: Variables) => void
}

interface State<Variables> {
  isPending: boolean
  variables?: Variables
  error?: unknown
}

const idle = { isPending: false }

/** Like useWrite, for pages to sign in, which load no data: the client of queries would be a tenth of them. */
export function useAttempt<Variables, Data>({
  mutationFn,
  onSuccess,
  onError,
}: AttemptOptions<Variables, Data>) {
  const [state, setState] = useState<State<Variables>>(idle)
  const isRunning = useRef(false)

  async function attempt(variables: Variables) {
    if (isRunning.current || isRepeatOfWrite()) return
    isRunning.current = true
    noteWrite()
    setState({ isPending: true, variables })
    try {
      const data = await mutationFn(variables)
      await onSuccess?.(data, variables)
      setState({ isPending: false, variables })
    } catch (error) {
      onError?.(error, variables)
      setState({ isPending: false, variables, error })
    }
    isRunning.current = false
  }
  return {
    ...state,
    mutate: (variables: Variables) => void attempt(variables),
    reset: () => setState(idle),
  }
}

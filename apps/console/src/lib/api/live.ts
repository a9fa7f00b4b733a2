import type { QueryClient } from '@tanstack/react-query'
import { ApiError, callForFile } from './call.ts'
import { keys } from './query-keys.ts'
import { wire } from './wire.ts'

/** The server says something at least every 25 seconds; a line that is silent for longer is dead. */
const silenceMs = 60_000
/** A window out of sight keeps its stream this long: browsers allow few connections to one server. */
const hiddenMs = 30_000
const steadyMs = 10_000
const longestWaitMs = 30_000

const live = [
  keys.owner,
  keys.dashboard,
  keys.apps,
  keys.licenses,
  keys.clients,
  keys.resellers,
  keys.subscriptionStatus,
  keys.payments,
]

/**
 * Keeps what is on the screen up to date: the server tells when something of the owner has changed, and every query
 * in use is asked anew. Goes on until the returned function is called.
 */
export function keepLive(client: QueryClient): () => void {
  let stream: AbortController | undefined
  let hiding: ReturnType<typeof setTimeout> | undefined

  const refresh = () => {
    for (const queryKey of live) void client.invalidateQueries({ queryKey })
  }
  const begin = (missed: boolean) => {
    stream = new AbortController()
    void follow(stream.signal, { missed, refresh })
  }
  const onVisibility = () => {
    clearTimeout(hiding)
    if (document.visibilityState === 'hidden') hiding = setTimeout(() => stream?.abort(), hiddenMs)
    else if (stream?.signal.aborted) begin(true)
  }

  begin(false)
  document.addEventListener('visibilitychange', onVisibility)
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    clearTimeout(hiding)
    stream?.abort()
  }
}

interface Following {
  missed: boolean
  refresh: () => void
}

async function follow(signal: AbortSignal, { missed, refresh }: Following) {
  let failures = 0
  while (!signal.aborted) {
    const began = Date.now()
    try {
      await read(signal, {
        onOpen: () => {
          if (missed) refresh()
          missed = true
        },
        onChange: refresh,
      })
    } catch (error) {
      if (signal.aborted) return
      // The session is over; the call itself reports what that means.
      if (error instanceof ApiError && error.status === 401) return
    }
    failures = Date.now() - began > steadyMs ? 0 : failures + 1
    await pause(Math.min(longestWaitMs, 1000 * 2 ** Math.max(0, failures - 1)), signal)
  }
}

/** Reads one stream to its end. */
async function read(signal: AbortSignal, on: { onOpen: () => void; onChange: () => void }) {
  const silence = new AbortController()
  let alarm: ReturnType<typeof setTimeout> | undefined
  const heard = () => {
    clearTimeout(alarm)
    alarm = setTimeout(() => silence.abort(), silenceMs)
  }
  try {
    heard()
    const response = await callForFile(wire.events.stream, {
      signal: AbortSignal.any([signal, silence.signal]),
    })
    on.onOpen()
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      heard()
      const events = (text + value).split('\n\n')
      text = events.pop() ?? ''
      if (events.some((event) => event.startsWith('event: change'))) on.onChange()
    }
  } finally {
    clearTimeout(alarm)
  }
}

/** Waits, but no longer than until the browser is online again. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      window.removeEventListener('online', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    window.addEventListener('online', done)
    signal.addEventListener('abort', done)
  })
}

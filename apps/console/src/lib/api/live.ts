import type { QueryClient } from '@tanstack/react-query'
import { ApiError, callForFile } from './call.ts'
import { keys } from './query-keys.ts'
import { wire } from './wire.ts'

/** The server sends a heartbeat every 25 seconds; without one for this long the connection is dead. */
const silenceMs = 60_000
/** How long a hidden window keeps its stream: browsers allow few connections to one server. */
const hiddenMs = 30_000
const steadyMs = 10_000
const longestWaitMs = 30_000

const live = [
  keys.owner,
  keys.dashboard,
  keys.apps,
  keys.app,
  keys.licenseTypes,
  keys.licenses,
  keys.clients,
  keys.customers,
  keys.resellers,
  keys.apiKeys,
  keys.webhooks,
  keys.shops,
  keys.orders,
  keys.members,
  keys.audit,
  keys.subscriptionStatus,
  keys.payments,
]

/**
 * Keeps the screen up to date: refetches all active queries when the server reports a change. Stops when the returned
 * function is called.
 */
export function keepLive(client: QueryClient): () => void {
  let stream: AbortController | undefined
  let hiding: ReturnType<typeof setTimeout> | undefined

  const refresh = () => {
    for (const queryKey of live) void client.invalidateQueries({ queryKey })
  }
  const refreshActivity = () => void client.invalidateQueries({ queryKey: keys.activity })
  const begin = (missed: boolean) => {
    stream = new AbortController()
    void follow(stream.signal, { missed, refresh, refreshActivity })
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
  refreshActivity: () => void
}

async function follow(signal: AbortSignal, { missed, refresh, refreshActivity }: Following) {
  let failures = 0
  while (!signal.aborted) {
    const began = Date.now()
    try {
      await read(signal, {
        onOpen: () => {
          if (missed) {
            refresh()
            refreshActivity()
          }
          missed = true
        },
        onChange: refresh,
        onActivity: refreshActivity,
      })
    } catch (error) {
      if (signal.aborted) return
      // The session has ended, which the call itself reports.
      if (error instanceof ApiError && error.status === 401) return
    }
    failures = Date.now() - began > steadyMs ? 0 : failures + 1
    await pause(Math.min(longestWaitMs, 1000 * 2 ** Math.max(0, failures - 1)), signal)
  }
}

async function read(signal: AbortSignal, on: Record<'onOpen' | 'onChange' | 'onActivity', () => void>) {
  const silence = new AbortController()
  let alarm: ReturnType<typeof setTimeout> | undefined
  const restartAlarm = () => {
    clearTimeout(alarm)
    alarm = setTimeout(() => silence.abort(), silenceMs)
  }
  try {
    restartAlarm()
    const response = await callForFile(wire.events.stream, {
      signal: AbortSignal.any([signal, silence.signal]),
    })
    on.onOpen()
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      restartAlarm()
      const events = (text + value).split('\n\n')
      text = events.pop() ?? ''
      if (events.some((event) => event.startsWith('event: change'))) on.onChange()
      if (events.some((event) => event.startsWith('event: activity'))) on.onActivity()
    }
  } finally {
    clearTimeout(alarm)
  }
}

/** Waits, but at most until the browser is online again. */
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

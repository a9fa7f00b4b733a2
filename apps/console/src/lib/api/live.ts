import type { QueryClient } from '@tanstack/react-query'
import { ApiError, callForFile } from './call.ts'
import { keys } from './query-keys.ts'
import { noteChange, noteConnection } from './refresher.ts'
import { wire } from './wire.ts'

/** The server sends a heartbeat every 25 seconds; without one for this long the connection is dead. */
const silenceMs = 60_000
/** How long a hidden window keeps its stream: browsers allow few connections to one server. */
const hiddenMs = 30_000
const steadyMs = 10_000
const longestWaitMs = 30_000
/** What follows are the nouns that changed. */
const changeStart = 'event: change\ndata: '

/**
 * Keeps the screen up to date: refetches the active queries that show what the server reports as changed. Stops when the
 * returned function is called.
 */
export function keepLive(client: QueryClient): () => void {
  let stream: AbortController | undefined
  let hiding: ReturnType<typeof setTimeout> | undefined

  const noteActivity = () => void client.invalidateQueries({ queryKey: keys.activity })
  const begin = (hasMissed: boolean) => {
    stream = new AbortController()
    void follow(stream.signal, {
      onConnection: (isOpen) => {
        noteConnection(isOpen)
        if (isOpen && hasMissed) {
          noteChange(['*'])
          noteActivity()
        }
        hasMissed = true
      },
      onChange: noteChange,
      onActivity: noteActivity,
    })
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
  /** Called when the stream has begun and when it has ended. */
  onConnection: (isOpen: boolean) => void
  onChange: (nouns: string[]) => void
  onActivity: () => void
}

async function follow(signal: AbortSignal, on: Following) {
  let failures = 0
  while (!signal.aborted) {
    const began = Date.now()
    try {
      await read(signal, on)
    } catch (error) {
      if (signal.aborted) return
      // The session has ended, which the call itself reports.
      if (error instanceof ApiError && error.status === 401) return
    }
    failures = Date.now() - began > steadyMs ? 0 : failures + 1
    await pause(Math.min(longestWaitMs, 1000 * 2 ** Math.max(0, failures - 1)), signal)
  }
}

async function read(signal: AbortSignal, on: Following) {
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
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text: string | undefined
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      // The server begins with a comment, which a proxy that collects the stream holds back.
      if (text === undefined) on.onConnection(true)
      restartAlarm()
      const events = ((text ?? '') + value).split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        if (event.startsWith(changeStart)) on.onChange(event.slice(changeStart.length).split(' '))
        if (event.startsWith('event: activity')) on.onActivity()
      }
    }
  } finally {
    clearTimeout(alarm)
    on.onConnection(false)
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

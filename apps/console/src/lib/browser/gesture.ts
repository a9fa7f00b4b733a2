let beganAt = Number.NEGATIVE_INFINITY
let repeats = false

function note(isRepeat: boolean) {
  repeats = isRepeat
  if (!isRepeat) beganAt = performance.now()
}

if (typeof window !== 'undefined') {
  window.addEventListener('click', ({ detail }) => note(detail > 1), true)
  window.addEventListener('keydown', ({ repeat }) => note(repeat), true)
}

/** Runs once the visitor touches the page, unless the returned function is called before. */
export function onFirstGesture(run: () => void): () => void {
  const gestures = ['pointermove', 'pointerdown', 'keydown']
  const stop = () => {
    for (const gesture of gestures) window.removeEventListener(gesture, start)
  }
  const start = () => {
    stop()
    run()
  }
  for (const gesture of gestures) window.addEventListener(gesture, start, { passive: true })
  return stop
}

/** When the double click or held key began that the user is in; undefined for a single click or key. */
const repeatedSince = (): number | undefined => (repeats ? beganAt : undefined)

let wroteAt = Number.NEGATIVE_INFINITY

export const noteWrite = () => {
  wroteAt = performance.now()
}

/** The second click of a double click, and a key that is held, ask for nothing new. */
export function isRepeatOfWrite(): boolean {
  const since = repeatedSince()
  return since !== undefined && wroteAt >= since
}

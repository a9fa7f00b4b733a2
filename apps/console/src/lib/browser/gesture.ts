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

/** When the double click or held key began that the user is in; undefined for a single click or key. */
export const repeatedSince = (): number | undefined => (repeats ? beganAt : undefined)

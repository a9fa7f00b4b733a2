import { useEffect, useState } from 'react'

const STEP_MS = 3000

/** Cycles through `count` positions every three seconds. Stops while `held` and for readers who prefer reduced motion. */
export function useRotation(count: number, held: boolean) {
  const [index, setIndex] = useState(0)
  const still = usePrefersReducedMotion()
  const running = !held && !still

  useEffect(() => {
    if (!running) return
    const timer = setInterval(() => setIndex((current) => (current + 1) % count), STEP_MS)
    return () => clearInterval(timer)
  }, [count, running])

  return { index, setIndex, still }
}

function usePrefersReducedMotion() {
  const [reduced, setReduced] = useState(() => query().matches)

  useEffect(() => {
    const media = query()
    const onChange = () => setReduced(media.matches)
    media.addEventListener('change', onChange)
    return () => media.removeEventListener('change', onChange)
  }, [])

  return reduced
}

const query = () => window.matchMedia('(prefers-reduced-motion: reduce)')

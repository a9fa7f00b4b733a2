import { useEffect } from 'react'
import { Toaster as Sonner, toast as sonner } from 'sonner'

export { sonner }

/** Shows the toasts; theme.css has their styles. */
export function Toaster({ onReady }: { onReady: () => () => void }) {
  useEffect(onReady, [onReady])
  return <Sonner position="bottom-right" closeButton duration={4500} />
}

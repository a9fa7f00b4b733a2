import { Toaster as Sonner, toast } from 'sonner'

export { toast }

/** Shows the toasts; theme.css has their styles. */
export function Toaster() {
  return <Sonner position="bottom-right" closeButton duration={4500} />
}

import { Toaster as Sonner, toast } from 'sonner'

export { toast }

/** Its look is in theme.css. */
export function Toaster() {
  return <Sonner position="bottom-right" closeButton duration={4500} />
}

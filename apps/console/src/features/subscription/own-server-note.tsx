import { usePublicConfig } from '../../lib/api/public-config.ts'

/** How a vendor's own server has no limits; nothing on a server that sells plans. */
export function OwnServerNote({ className }: { className?: string }) {
  const config = usePublicConfig()
  if (!config?.development || config.payments !== 'mock') return null
  return (
    <p className={className}>
      Your own server has no limits if it starts with <code>PAYMENTS=off</code> or{' '}
      <code>DEFAULT_PLAN=premium</code>.
    </p>
  )
}

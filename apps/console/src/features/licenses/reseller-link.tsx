import type { License } from '@keyward/contract'
import { Link } from 'react-router'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { resellerPath } from '../../lib/navigation/paths.ts'

export interface ResellerLinkProps {
  reseller: NonNullable<License['reseller']>
  /** In the color of the text around it. */
  quiet?: boolean
}

/** Leads to the page of a reseller, for those who may read it. */
export function ResellerLink({ reseller, quiet = false }: ResellerLinkProps) {
  if (!useMay()(wire.resellers.get)) return reseller.email
  return (
    <Link
      to={resellerPath(reseller._id)}
      className={`rounded-sm underline-offset-4 hover:underline ${quiet ? '' : 'text-accent-text'}`}
    >
      {reseller.email}
    </Link>
  )
}

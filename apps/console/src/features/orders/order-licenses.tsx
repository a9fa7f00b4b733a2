import type { ShopOrder } from '@keyward/contract'
import { Link } from 'react-router'
import { licensePath } from '../../lib/navigation/paths.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { KeyText } from '../../ui/key-text.tsx'

export const linkClass = 'rounded-sm text-accent-text underline-offset-4 hover:underline'

export interface OrderLicensesProps {
  title: string
  licenses: ShopOrder['licenses']
  /** The licenses that are chosen to end; nothing can be chosen without `onChosen`. */
  chosen?: readonly string[]
  onChosen?: (chosen: string[]) => void
}

/** Licenses that an order has created or renewed; nothing without any. */
export function OrderLicenses({ title, licenses, chosen = [], onChosen }: OrderLicensesProps) {
  if (licenses.length === 0) return null
  return (
    <section aria-label={title}>
      <h3 className="mb-1.5 font-medium">{title}</h3>
      <ul className="divide-y rounded-lg border">
        {licenses.map(({ _id, key }) => (
          <li key={_id} className="flex items-center justify-between gap-2 py-1 pr-1 pl-3">
            {onChosen && (
              <Checkbox
                label={`End license ${key}`}
                checked={chosen.includes(_id)}
                onChange={(checked) =>
                  onChosen(checked ? [...chosen, _id] : chosen.filter((id) => id !== _id))
                }
              />
            )}
            <Link to={licensePath(_id)} className={`min-w-0 break-all ${linkClass}`}>
              <KeyText>{key}</KeyText>
            </Link>
            <CopyButton text={key} label={`Copy key ${key}`} />
          </li>
        ))}
      </ul>
    </section>
  )
}

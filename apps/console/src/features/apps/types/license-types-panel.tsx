import { type App, type LicenseType, limits } from '@keyward/contract'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { May } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { typeSummary } from '../../../lib/format/license-type.ts'
import { formatNumber } from '../../../lib/format/numbers.ts'
import { amountOf } from '../../../lib/format/words.ts'
import { lazyNamed } from '../../../lib/navigation/lazy.ts'
import { listPath, paths } from '../../../lib/navigation/paths.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Deferred } from '../../../ui/deferred.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { EmptyState, QueryError } from '../../../ui/states.tsx'
import { useLicenseTypes } from './license-types-queries.ts'

const TypeLinksDialog = lazyNamed(() => import('./type-links-dialog.tsx'), 'TypeLinksDialog')
const DeleteLicenseTypeDialog = lazyNamed(
  () => import('./delete-license-type-dialog.tsx'),
  'DeleteLicenseTypeDialog',
)

export interface LicenseTypesPanelProps {
  app: App
  /** Opens the form: for a new type without one. */
  onEdit: (type?: LicenseType) => void
}

/** Lists the license types of an app. */
export function LicenseTypesPanel({ app, onEdit }: LicenseTypesPanelProps) {
  const types = useLicenseTypes(app._id)
  const [deleting, setDeleting] = useState<LicenseType>()
  const [linked, setLinked] = useState<LicenseType>()
  const close = () => setDeleting(undefined)
  const closeLinks = () => setLinked(undefined)
  if (types.isPending) return <Skeleton className="h-40" />
  if (types.isError) {
    return <QueryError boxed query={types} title="Failed to load the license types" />
  }
  if (types.data.length === 0) {
    return (
      <EmptyState
        className="rounded-lg border py-8"
        title="No license types yet"
        description="A type says what you sell: the term, the devices and the features of each license."
        actions={
          <May call={wire.licenseTypes.create}>
            <Button onClick={() => onEdit()}>
              <Plus />
              Create Your First Type
            </Button>
          </May>
        }
      />
    )
  }
  return (
    <>
      <ul aria-label="License types" className="grid divide-y rounded-lg border">
        {types.data.map((type) => (
          <li key={type._id} className="flex flex-wrap items-center gap-x-4 gap-y-2 p-3">
            <div className="min-w-0 flex-1 basis-56">
              <p className="flex flex-wrap items-center gap-2 font-medium">
                <span className="wrap-anywhere">{type.name}</span>
                {type.resellable && <Badge>Resellers</Badge>}
              </p>
              <p className="wrap-anywhere text-[0.8125rem] text-fg-muted">{typeSummary(type)}</p>
            </div>
            <Link
              to={`${paths.licenses}?app=${app._id}&type=${type._id}`}
              className="rounded-sm text-accent-text text-[0.8125rem] underline-offset-4 hover:underline"
            >
              {type.licenses < limits.searchCountMax
                ? amountOf(type.licenses, 'license')
                : `${formatNumber(limits.searchCountMax)} or more licenses`}
            </Link>
            <span className="flex gap-2">
              {type.licenses > 0 && (
                <May call={wire.bulk.licenses}>
                  <Button size="sm" asChild>
                    <Link
                      to={listPath(paths.licenses, { app: app._id, type: type._id, dialog: 'extend-all' })}
                      aria-label={`Extend all licenses of ${type.name}`}
                    >
                      Extend…
                    </Link>
                  </Button>
                </May>
              )}
              <May call={wire.licenseTypes.update}>
                <Button size="sm" aria-label={`Edit ${type.name}`} onClick={() => onEdit(type)}>
                  Edit
                </Button>
                <Button size="sm" aria-label={`Links of ${type.name}`} onClick={() => setLinked(type)}>
                  Links
                </Button>
              </May>
              <May call={wire.licenseTypes.remove}>
                <Button
                  size="sm"
                  variant="ghost"
                  aria-label={`Delete ${type.name}`}
                  onClick={() => setDeleting(type)}
                >
                  Delete
                </Button>
              </May>
            </span>
          </li>
        ))}
      </ul>
      {linked && (
        <Deferred onFail={closeLinks}>
          <TypeLinksDialog app={app} type={linked} onClose={closeLinks} />
        </Deferred>
      )}
      {deleting && (
        <Deferred onFail={close}>
          <DeleteLicenseTypeDialog type={deleting} onClose={close} />
        </Deferred>
      )}
    </>
  )
}

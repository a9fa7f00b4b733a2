import type { App, LicenseType } from '@keyward/contract'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { typeSummary } from '../../lib/format/license-type.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { EmptyState, QueryError } from '../../ui/states.tsx'
import { useDeleteLicenseType, useLicenseTypes } from './license-types-queries.ts'

export interface LicenseTypesPanelProps {
  app: App
  /** Opens the form: for a new type without one. */
  onEdit: (type?: LicenseType) => void
}

/** Lists the license types of an app. */
export function LicenseTypesPanel({ app, onEdit }: LicenseTypesPanelProps) {
  const types = useLicenseTypes(app._id)
  const remove = useDeleteLicenseType()
  const [deleting, setDeleting] = useState<LicenseType>()
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
          <Button onClick={() => onEdit()}>
            <Plus />
            Create Your First Type
          </Button>
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
            <span className="flex gap-2">
              <Button size="sm" aria-label={`Edit ${type.name}`} onClick={() => onEdit(type)}>
                Edit
              </Button>
              <Button
                size="sm"
                variant="ghost"
                aria-label={`Delete ${type.name}`}
                onClick={() => setDeleting(type)}
              >
                Delete
              </Button>
            </span>
          </li>
        ))}
      </ul>
      {deleting && (
        <ConfirmDialog
          title={`Delete the type ${deleting.name}?`}
          description="Licenses that were generated from it stay as they were sold. No more can be generated from it."
          confirmLabel="Delete Type"
          busy={remove.isPending}
          onConfirm={() => remove.mutate(deleting._id, { onSuccess: () => setDeleting(undefined) })}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </>
  )
}

import { DialogBody } from '../../ui/dialog.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'

export function ErrorMessagesSkeleton() {
  return (
    <DialogBody aria-busy>
      {Array.from({ length: 6 }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: skeletons have nothing else
        <div key={index} className="grid gap-2">
          <Skeleton className="h-4 w-32" />
          <Skeleton className="h-9" />
        </div>
      ))}
    </DialogBody>
  )
}

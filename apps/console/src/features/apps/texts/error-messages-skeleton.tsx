import { CardBody } from '../../../ui/card.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'

export function ErrorMessagesSkeleton() {
  return (
    <CardBody aria-busy className="grid h-dvh content-start gap-4">
      {Array.from({ length: 6 }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: skeletons have nothing else
        <div key={index} className="grid gap-2">
          <Skeleton className="h-4 w-32" />
          <Skeleton className="h-9" />
        </div>
      ))}
    </CardBody>
  )
}

import { Skeleton } from './skeleton.tsx'

/** A search field and selects that are still loaded, in their places. */
export function FiltersSkeleton({ selects = 3 }: { selects?: number }) {
  return (
    <div className="flex flex-wrap gap-2 max-md:w-full" aria-hidden>
      <Skeleton className="h-9 w-full md:w-56" />
      {Array.from({ length: selects }, (_, at) => (
        <Skeleton key={at} className="h-9 max-md:grow max-md:basis-[calc(50%-0.25rem)] md:w-36" />
      ))}
    </div>
  )
}

import { Skeleton } from './skeleton.tsx'

/** Placeholder for a search field and three selects. */
export function FiltersSkeleton() {
  return (
    <div className="flex flex-wrap gap-2 max-md:w-full" aria-hidden>
      <Skeleton className="h-9 w-full md:w-56" />
      <Skeleton className="h-9 max-md:grow max-md:basis-[calc(50%-0.25rem)] md:w-36" />
      <Skeleton className="h-9 max-md:grow max-md:basis-[calc(50%-0.25rem)] md:w-36" />
      <Skeleton className="h-9 max-md:grow max-md:basis-[calc(50%-0.25rem)] md:w-36" />
    </div>
  )
}

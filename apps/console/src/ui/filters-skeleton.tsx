import { Skeleton } from './skeleton.tsx'

/** Placeholder for a search field, selects and the table's menu; a button on phones. */
export function FiltersSkeleton({ selects = 4 }: { selects?: number }) {
  return (
    <>
      <Skeleton className="h-9 w-24 md:hidden" />
      <div className="flex flex-wrap gap-2 max-md:hidden" aria-hidden>
        <Skeleton className="h-9 md:w-72" />
        {Array.from({ length: selects }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have nothing else
          <Skeleton key={index} className="h-9 w-36" />
        ))}
        <Skeleton className="size-9" />
      </div>
    </>
  )
}

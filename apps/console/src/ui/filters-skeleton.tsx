import { Skeleton } from './skeleton.tsx'

/** Placeholder for a search field, selects and the table's menu; a button instead of these on phones. */
export function FiltersSkeleton({ selects = 4 }: { selects?: number }) {
  return (
    <>
      {selects > 0 && <Skeleton className="h-9 w-24 md:hidden" />}
      <div className="flex flex-wrap gap-2 max-md:order-last max-md:basis-full" aria-hidden>
        <Skeleton className="h-9 max-md:flex-1 md:w-72" />
        {Array.from({ length: selects }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have nothing else
          <Skeleton key={index} className="h-9 w-36 max-md:hidden" />
        ))}
        <Skeleton className="size-9 max-md:hidden" />
      </div>
    </>
  )
}

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { changeInBatches } from './bulk.ts'

/** Small enough that one tells how far it is every second or so. */
const batchSize = 50

/** Work on many rows at once, and how far it is. */
export function useBulk<Row>(refresh: () => void) {
  const [done, setDone] = useState(0)
  const work = useMutation({
    mutationFn: ({ rows, change }: { rows: Row[]; change: (rows: Row[]) => Promise<unknown> }) =>
      changeInBatches({ rows, change, batchSize, onProgress: setDone }),
    onMutate: () => setDone(0),
    onSettled: refresh,
  })
  return {
    run: work.mutateAsync,
    busy: work.isPending,
    progress: work.isPending ? { done, total: work.variables.rows.length } : undefined,
  }
}

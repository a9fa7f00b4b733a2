import { useState } from 'react'

interface Query<Data> {
  data: Data | undefined
  isSuccess: boolean
  isFetchedAfterMount: boolean
}

/** The data of the first answer since a form opened: an older copy would overwrite what was saved elsewhere. */
export function useFreshData<Data>(query: Query<Data>): Data | undefined {
  const [fresh, setFresh] = useState<Data>()
  if (fresh === undefined && query.isSuccess && query.isFetchedAfterMount) setFresh(query.data)
  return fresh
}

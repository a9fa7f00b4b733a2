import { useQuery } from '@tanstack/react-query'
import { call } from './call.ts'
import { keys } from './query-keys.ts'
import { useMay } from './rights.tsx'
import { wire } from './wire.ts'

/** The newest resellers of an app as options of a select; none for members who may not see resellers. */
export function useResellerOptions(app: string | undefined) {
  const may = useMay()
  const { data = [] } = useQuery({
    queryKey: [...keys.resellers, 'options', app],
    queryFn: async ({ signal }) => (await call(wire.resellers.list, { query: { app }, signal })).resellers,
    enabled: app !== undefined && may(wire.resellers.list),
    staleTime: 10_000,
  })
  return data.map(({ _id, email }) => ({ value: _id, label: email }))
}

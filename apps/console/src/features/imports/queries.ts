import type { BodyInputOf, endpoints, ImportOutcome } from '@keyward/contract'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { toastFailed } from '../../ui/failure-toast.tsx'
import type { ChosenFile } from './files.ts'
import { isWorking } from './words.ts'

const pollMs = 1000

export const useImports = () =>
  useQuery({
    queryKey: [...keys.imports, 'list'],
    meta: { failure: 'Failed to load imports' },
    queryFn: async ({ signal }) => (await call(wire.imports.list, { query: {}, signal })).imports,
    refetchInterval: ({ state }) => (state.data?.some(isWorking) ? pollMs : false),
  })

export const rowsPerPage = 50

/** An import and a page of its report. Asks again each second while the server works on it. */
export const useImport = (id: string, query: { outcome: ImportOutcome | undefined; page: number }) =>
  useQuery({
    queryKey: [...keys.imports, id, query],
    meta: { failure: 'Failed to load the import' },
    queryFn: ({ signal }) =>
      call(wire.imports.get, { params: { id }, query: { ...query, limit: rowsPerPage }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data && isWorking(state.data.import) ? pollMs : false),
  })

interface NewImport {
  body: Omit<BodyInputOf<typeof endpoints.imports.create>, 'files'>
  files: readonly ChosenFile[]
}

/** Creates an import, uploads its files and checks them. */
export function useStartImport() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: async ({ body, files }: NewImport) => {
      const { import: created } = await call(wire.imports.create, { body })
      const params = { id: created._id }
      for (const { name, text } of files)
        await call(wire.imports.putFile, { params: { ...params, name }, file: new Blob([text]) })
      return (await call(wire.imports.run, { params, body: { dryRun: true } })).import
    },
    onError: (error) => toastFailed('Check Failed', error, 'Failed to check the files.'),
    onSettled: () => client.invalidateQueries({ queryKey: keys.imports }),
  })
}

export function useRunImport(id: string) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: (body: { dryRun: boolean; answers: Record<string, string> }) =>
      call(wire.imports.run, { params: { id }, body }),
    onError: (error) => toastFailed('Import Failed', error, 'Failed to run the import.'),
    onSettled: () => client.invalidateQueries({ queryKey: keys.imports }),
  })
}

export function useUndoImport(id: string) {
  const client = useQueryClient()
  return useWrite({
    mutationFn: () => call(wire.imports.undo, { params: { id } }),
    onError: (error) => toastFailed('Undo Failed', error, 'Failed to undo the import.'),
    onSettled: () => client.invalidateQueries({ queryKey: keys.imports }),
  })
}

import { limits } from '@keyward/contract'
import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useFindApps } from '../../lib/api/apps.ts'
import { useMay } from '../../lib/api/rights.tsx'
import type { Command } from './commands.ts'
import { sources } from './sources.ts'

const limit = 5
const debounceMs = 200

function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), text ? debounceMs : 0)
    return () => clearTimeout(timer)
  }, [text])
  return debounced
}

/** Searches the lists on the server. */
export function useSearchResults(text: string, hasApps: boolean) {
  const { dialog, rest } = readVerb(text)
  const wanted = rest.trim().slice(0, limits.searchMax)
  const search = useDebounced(wanted)
  const may = useMay()
  const enabled = hasApps && search.length > 1
  const moreApps = useFindApps() !== undefined
  const query = { search, limit }
  const results = useQueries({
    queries: sources.map(({ queryKey, call, find, appsOnly }) => ({
      queryKey: [...queryKey, 'found', query],
      queryFn: ({ signal }: { signal: AbortSignal }) => find({ query, signal }),
      enabled: enabled && may(call) && (moreApps || !appsOnly),
      staleTime: 5_000,
      placeholderData: keepPreviousData,
    })),
  })
  const active = hasApps && wanted.length > 1
  return {
    commands: active ? results.flatMap(({ data }) => data ?? []).flatMap((one) => toDeed(one, dialog)) : [],
    searching: active && (search !== wanted || results.some(({ isFetching }) => isFetching)),
    failed: active && results.some(({ isError }) => isError),
  }
}

/** `extend ROSA` searches for Rosa, and opens what it finds with the dialog. */
function readVerb(text: string): { dialog?: string; rest: string } {
  const [, verb, rest] = /^\s*(extend|ban)\s+(\S.*)$/i.exec(text) ?? []
  return verb && rest ? { dialog: verb.toLowerCase(), rest } : { rest: text }
}

function toDeed(command: Command, dialog: string | undefined): Command[] {
  if (dialog === undefined) return [command]
  if (command.group !== 'Licenses' && command.group !== 'End users') return []
  const verb = dialog === 'ban' ? 'Ban' : 'Extend'
  const detail = [command.label, command.detail].filter(Boolean).join(' · ')
  return [
    {
      ...command,
      id: `${dialog}-${command.id}`,
      icon: 'create',
      label: verb,
      detail,
      to: `${command.to}?dialog=${dialog}`,
    },
  ]
}

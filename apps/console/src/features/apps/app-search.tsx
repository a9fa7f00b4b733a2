import { SearchInput } from '../../ui/input.tsx'

export { Pagination } from '../../ui/pagination.tsx'

export interface AppSearchProps {
  value: string | undefined
  onSearch: (text: string) => void
}

/** Shown only while there is more than one page of apps. */
export function AppSearch({ value = '', onSearch }: AppSearchProps) {
  return (
    <SearchInput
      label="Search apps"
      placeholder="Name or app ID"
      value={value}
      onSearch={onSearch}
      className="w-full md:w-56"
    />
  )
}

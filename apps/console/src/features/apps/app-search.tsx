import { SearchInput } from '../../ui/input.tsx'

export { Pagination } from '../../ui/pagination.tsx'

export interface AppSearchProps {
  value: string | undefined
  onSearch: (text: string) => void
}

/** Above a list of more apps than a page holds. */
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

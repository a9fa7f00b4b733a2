import type { SearchMatch } from '@keyward/contract'

/** What a search found in a row, unless the row shows that field anyway. */
export const matchText = (match: SearchMatch | undefined, ...shown: SearchMatch['field'][]) =>
  match && !shown.includes(match.field)
    ? `${match.field[0]?.toUpperCase()}${match.field.slice(1)}: ${match.text}`
    : undefined

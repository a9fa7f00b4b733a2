export const sortWords = {
  newest: 'Newest first',
  oldest: 'Oldest first',
  expires_first: 'Expires first',
  expires_last: 'Expires last',
}

export type SortName = keyof typeof sortWords

export const sortWords = {
  newest: 'Newest first',
  oldest: 'Oldest first',
  expires_first: 'Expires first',
  expires_last: 'Expires last',
  app_a_to_z: 'App, A to Z',
  app_z_to_a: 'App, Z to A',
  user_a_to_z: 'User, A to Z',
  user_z_to_a: 'User, Z to A',
  type_a_to_z: 'Type, A to Z',
  type_z_to_a: 'Type, Z to A',
}

export type SortName = keyof typeof sortWords

/** The orders of a list, by dates and by names. */
export const licenseSorts = Object.keys(sortWords) as SortName[]

export const endUserSorts = licenseSorts.filter(
  (sort): sort is Exclude<SortName, `type_${string}`> => !sort.startsWith('type_'),
)

export const sortWords = {
  newest: 'Newest first',
  oldest: 'Oldest first',
  expires_first: 'Expires first',
  expires_last: 'Expires last',
  app_a_to_z: 'App, A to Z',
  app_z_to_a: 'App, Z to A',
  type_a_to_z: 'Type, A to Z',
  type_z_to_a: 'Type, Z to A',
}

export type SortName = keyof typeof sortWords

/** The orders of a list besides the newest first, by dates and by names. */
export const endUserSorts = [
  'oldest',
  'expires_first',
  'expires_last',
  'app_a_to_z',
  'app_z_to_a',
] as const satisfies SortName[]

export const licenseSorts = [...endUserSorts, 'type_a_to_z', 'type_z_to_a'] as const satisfies SortName[]

/** `toTyped` in SQL; written like the expression of the index `licenses_key_typed`, or the index is not used. */
export const typedColumn = (column: string): string =>
  `replace(replace(replace(${column}, 'O', '0'), 'I', '1'), 'L', '1')`

/**
 * The `seq` of the license with a key, as SQL with two parameters: the exact and the typed form. An exact match comes
 * first; the typed form of at most one key that is no twin is equal.
 */
export const seqOfKey = (appId: string): string => `coalesce(
    (select x.seq from licenses x where x.app_id = ${appId} and x.key_normalized = ?),
    (select x.seq from licenses x
      where x.app_id = ${appId} and ${typedColumn('x.key_normalized')} = ? and x.key_twin = 0))`

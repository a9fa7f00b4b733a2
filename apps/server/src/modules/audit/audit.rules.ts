import { type ActionName, actionLabels, actions, type Permission, readPermissionOf } from '@keyward/contract'
import type { Description, Names } from '../description.ts'

/** What the modules call their objects, by the prefixes of ids. */
export const namesOf = (modules: readonly Pick<Description, 'names'>[]): Names =>
  Object.assign({}, ...modules.map(({ names }) => names))

const prefixOf = (id: string): string => id.slice(0, id.indexOf('_'))

/** What a subject is: by its id, or by the action if the id has no prefix. */
export const subjectKind = (names: Names, id: string, action: string): string =>
  names[prefixOf(id)]?.kind ?? action.slice(0, action.indexOf('.'))

type May = (permission: Permission) => boolean

/** The ids whose names the caller may read, by their prefix. */
export const readableIds = (names: Names, ids: Iterable<string>, may: May): Map<string, string[]> =>
  Map.groupBy(
    [...new Set(ids)].filter((id) => {
      const found = names[prefixOf(id)]
      return found !== undefined && may(found.permission)
    }),
    prefixOf,
  )

const allActions = Object.keys(actions) as ActionName[]

/** The actions whose details a caller may not read. */
export const hiddenActions = (may: May): ActionName[] =>
  allActions.filter((name) => !may(readPermissionOf(name)))

/** The changes of an app itself, not of its licenses and people. */
export function appActions(names: Names): ActionName[] {
  const kinds = new Set(Object.values(names).flatMap(({ kind, isOfApp }) => (isOfApp ? [kind] : [])))
  return allActions.filter((name) => kinds.has(name.slice(0, name.indexOf('.'))) && !name.includes('.slice_'))
}

/** The actions whose name or label contains a text, which is in lower case. */
export const actionsNamed = (text: string): ActionName[] =>
  allActions.filter((name) => name.includes(text) || actionLabels[name].toLowerCase().includes(text))

/** What the detail calls a subject that no longer exists. */
export function nameInDetail(
  names: Names,
  kind: string,
  detail: Record<string, unknown> | null,
): string | null {
  const field = Object.values(names).find((one) => one.kind === kind)?.inDetail
  const name = detail?.[field ?? '']
  if (typeof name !== 'string') return null
  return kind === 'license' ? `${name}…` : name
}

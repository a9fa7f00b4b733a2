/** The names of a few apps, or their number; `ids` is null for all apps. */
export function appsText(
  ids: readonly string[] | null,
  apps: readonly { _id: string; name: string }[],
): string {
  if (ids === null) return 'All apps'
  if (ids.length === 0) return 'None: the apps were deleted'
  const names = ids.flatMap((id) => apps.find(({ _id }) => _id === id)?.name ?? [])
  return ids.length <= 2 && names.length === ids.length ? names.join(', ') : `${ids.length} apps`
}

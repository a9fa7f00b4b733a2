interface Variable {
  name: string
  value: string
  public?: boolean
}

/** The names of variables that a new list adds, changes and removes; never their values. */
export function changeOf(before: readonly Variable[], after: readonly Variable[]) {
  const old = new Map(before.map((variable) => [variable.name, variable]))
  const kept = new Set(after.map(({ name }) => name))
  const isChanged = ({ name, value, public: isPublic }: Variable) =>
    old.has(name) && (old.get(name)?.value !== value || old.get(name)?.public !== isPublic)
  return {
    added: after.filter(({ name }) => !old.has(name)).map(({ name }) => name),
    changed: after.filter(isChanged).map(({ name }) => name),
    removed: before.filter(({ name }) => !kept.has(name)).map(({ name }) => name),
  }
}

interface Variable {
  name: string
  value: string
  public?: boolean
  offline?: boolean | undefined
}

/** The names of variables that a new list adds, changes and removes; never their values. */
export function changeOf(before: readonly Variable[], after: readonly Variable[]) {
  const old = new Map(before.map((variable) => [variable.name, variable]))
  const kept = new Set(after.map(({ name }) => name))
  const isChanged = (variable: Variable) => {
    const was = old.get(variable.name)
    if (!was) return false
    const isOffline = ({ offline = false }: Variable) => offline
    return (
      was.value !== variable.value || was.public !== variable.public || isOffline(was) !== isOffline(variable)
    )
  }
  return {
    added: after.filter(({ name }) => !old.has(name)).map(({ name }) => name),
    changed: after.filter(isChanged).map(({ name }) => name),
    removed: before.filter(({ name }) => !kept.has(name)).map(({ name }) => name),
  }
}

interface Made {
  name: string
  value: string
  program?: boolean | undefined
}

/**
 * A variable that a program made stays the program's while its value is the same, unless the vendor says that it is
 * theirs; others are the vendor's.
 */
export function withMakers(before: readonly Made[], after: readonly Made[]): Made[] {
  const made = new Map(before.filter(({ program }) => program).map(({ name, value }) => [name, value]))
  return after.map(({ name, value, program }) =>
    program !== false && made.get(name) === value ? { name, value, program: true } : { name, value },
  )
}

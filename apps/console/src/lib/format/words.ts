/** '1 license', '1,200 licenses'. */
export function amountOf(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`
}

/** 'erik, anna and 3 more'. */
export function someOf(names: readonly string[], shown = 3): string {
  if (names.length <= 1) return names.join('')
  if (names.length <= shown) return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  return `${names.slice(0, shown).join(', ')} and ${(names.length - shown).toLocaleString()} more`
}

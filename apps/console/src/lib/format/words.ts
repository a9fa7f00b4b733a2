/** '1 license', '1,200 licenses'. */
export function amountOf(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`
}

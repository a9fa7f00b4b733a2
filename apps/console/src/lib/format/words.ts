import { formatNumber } from './numbers.ts'
/** '1 license', '1,200 licenses'. */
export function amountOf(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`
}

import { formatNumber } from './numbers.ts'
/** '1 license', '1,200 licenses'. */
export function amountOf(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`
}

/** How many a list has, which may end before all of them: '10,000 and more events'. */
export const totalOf = ({ total, capped }: { total: number; capped?: boolean | undefined }, noun: string) =>
  `${formatNumber(total)}${capped ? ' and more' : ''} ${total === 1 ? noun : `${noun}s`}`

import { isValidElement, type ReactElement } from 'react'
import { expect, test } from 'vitest'
import { Progress, type ProgressProps } from './progress.tsx'

function render(value: number, max: number) {
  const bar = Progress({ value, max, label: 'Usage' } satisfies ProgressProps) as ReactElement<{
    'aria-valuenow': number
    children: ReactElement<{ className: string }>
  }>
  if (!isValidElement(bar.props.children)) throw new Error('there is nothing in the bar')
  return [bar.props['aria-valuenow'], /bg-(\w+)/.exec(bar.props.children.props.className)![1]]
}

test('warns from 70 percent and is red from 90, for any limit', () => {
  expect([0, 69, 70, 89, 90, 100].map((used) => render(used, 100))).toEqual([
    [0, 'success'],
    [69, 'success'],
    [70, 'warning'],
    [89, 'warning'],
    [90, 'danger'],
    [100, 'danger'],
  ])
  expect(render(7, 10)).toEqual([70, 'warning'])
  expect(render(9000, 10_000)).toEqual([90, 'danger'])
})

test('is full at the limit, beyond it, and with a limit of zero', () => {
  for (const [used, limit] of [
    [5, 5],
    [7, 5],
    [0, 0],
  ] as const) {
    expect(render(used, limit)).toEqual([100, 'danger'])
  }
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatNumber } from './numbers.ts'

test('numbers have the format of the English text around them', () => {
  expect(formatNumber(1_234_567)).toBe('1,234,567')
  expect(formatNumber(0.5)).toBe('0.5')
  expect(formatNumber(undefined)).toBeUndefined()
})

test("no text of the console takes the browser's format of numbers and dates", () => {
  const source = join(import.meta.dirname, '../..')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('numbers.test.ts'))
    .filter((file) => /\.toLocale(Date|Time)?String\(/.test(readFileSync(join(source, file), 'utf8')))
  expect(files).toEqual([])
})

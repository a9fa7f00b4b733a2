import { expect, test } from 'vitest'
import { toCsv } from './csv.ts'

test('writes lines of cells, quoted where they need it', () => {
  expect(
    toCsv([
      ['key', 'note'],
      ['A', 'says "no", twice'],
      [null, true],
    ]),
  ).toBe('key,note\r\nA,"says ""no"", twice"\r\n,true\r\n')
})

test.each(['=1+1', '+1', '-1', '@x', '\tx', "'=1"])('neutralises %s', (text) => {
  expect(toCsv([[text]])).toContain(`'${text}`)
})

import { expect, test } from 'vitest'
import { asciiJson, readForm, trimmed } from './text.ts'

test('a line feed after a hardware id is not part of it', () => {
  expect(trimmed('\t4c4c4544-0039\n\0')).toBe('4c4c4544-0039')
})

test('a long run of spaces within a field takes no longer than its length', () => {
  const text = `a${' '.repeat(64_000)}b`
  const from = performance.now()
  expect(trimmed(`${text} `)).toBe(text)
  expect(performance.now() - from).toBeLessThan(500)
})

test('fields are read although they are not encoded, or the form ends with an empty pair', () => {
  const form = 'type=login&pass=100% {"a"}&name=My App&x=%zz%41%C3%A9+%&empty=&flag&'
  expect(Object.fromEntries(readForm(form))).toEqual({
    type: 'login',
    pass: '100% {"a"}',
    name: 'My App',
    x: '%zzAé %',
    empty: '',
    flag: '',
  })
  expect(readForm('a=%ff').get('a')).toBe('\ufffd')
  expect(Object.fromEntries(readForm('%41=%4&%4g=%&ü%2B=+%c3%BC%'))).toEqual({
    A: '%4',
    '%4g': '%',
    'ü+': ' ü%',
  })
})

test('answers are ASCII, with pairs of escapes beyond the basic plane', () => {
  expect(asciiJson({ a: 'ü😀/' }, true)).toBe('{"a":"\\u00fc\\ud83d\\ude00\\/"}')
  expect(asciiJson({ a: '/' }, false)).toBe('{"a":"/"}')
})

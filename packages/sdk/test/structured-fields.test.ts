import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDictionary, StructuredFieldError, serializeString } from '../src/structured-fields.ts'

describe('parseDictionary', () => {
  it('parses items, inner lists and parameters with their types', () => {
    const fields = parseDictionary(
      'a=("x" "y";req);created=1;alg="e\\"d", b=:AAE=:, c, d=?0, e=1.5;t=tok/en, f=@17, g=-3',
    )
    expect(fields.get('a')).toEqual({
      kind: 'list',
      items: [
        { kind: 'item', value: { type: 'string', value: 'x' }, params: new Map() },
        {
          kind: 'item',
          value: { type: 'string', value: 'y' },
          params: new Map([['req', { type: 'boolean', value: true }]]),
        },
      ],
      params: new Map<string, unknown>([
        ['created', { type: 'integer', value: 1 }],
        ['alg', { type: 'string', value: 'e"d' }],
      ]),
    })
    expect(fields.get('b')).toMatchObject({ value: { type: 'bytes', value: new Uint8Array([0, 1]) } })
    expect(fields.get('c')).toMatchObject({ value: { type: 'boolean', value: true } })
    expect(fields.get('d')).toMatchObject({ value: { type: 'boolean', value: false } })
    expect(fields.get('e')).toMatchObject({
      value: { type: 'decimal', value: 1.5 },
      params: new Map([['t', { type: 'token', value: 'tok/en' }]]),
    })
    expect(fields.get('f')).toMatchObject({ value: { type: 'date', value: 17 } })
    expect(fields.get('g')).toMatchObject({ value: { type: 'integer', value: -3 } })
  })

  it.each([
    ['a repeated key', 'a=1, a=2'],
    ['a repeated parameter', 'a=1;p;p'],
    ['a repeated parameter of an inner list', 'a=();p=1;p=1'],
    ['a trailing comma', 'a=1,'],
    ['a missing comma', 'a=1 b=2'],
    ['an upper-case key', 'A=1'],
    ['an open string', 'a="x'],
    ['a wrong escape', 'a="\\n"'],
    ['a character beyond ASCII', 'a="é"'],
    ['an open list', 'a=("x"'],
    ['a list without spaces', 'a=("x""y")'],
    ['a nested list', 'a=(("x"))'],
    ['open bytes', 'a=:AAAA'],
    ['base64 without padding', 'a=:AAE:'],
    ['base64 with extra trailing bits', 'a=:AAF=:'],
    ['a number of 16 digits', 'a=1234567890123456'],
    ['a fraction of four digits', 'a=1.2345'],
    ['a date with a fraction', 'a=@1.5'],
    ['a minus without digits', 'a=-'],
    ['an empty value', 'a='],
    ['a display string', 'a=%"x"'],
    ['a field of 20000 characters', `a="${'x'.repeat(20_000)}"`],
  ])('rejects %s', (_, text) => {
    expect(() => parseDictionary(text)).toThrow(StructuredFieldError)
  })

  it('parses an empty field as an empty dictionary', () => {
    expect(parseDictionary('  ').size).toBe(0)
  })

  const pieces = [
    'a',
    'keyward',
    '=',
    ';',
    ',',
    ' ',
    '\t',
    '(',
    ')',
    '"',
    ':',
    '?',
    '1',
    '@',
    '-',
    '.',
    '\\',
    'AA==',
  ]
  const almostValid = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 3 })), { maxLength: 30 })
    .map((parts) => parts.join(''))

  it('throws only its own error for any text', () => {
    fc.assert(
      fc.property(fc.oneof(almostValid, fc.string({ unit: 'binary' })), (text) => {
        try {
          parseDictionary(text)
        } catch (error) {
          expect(error).toBeInstanceOf(StructuredFieldError)
        }
      }),
      { numRuns: 3_000 },
    )
  })

  it('parses every string that it serializes', () => {
    const printable = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((c) => String.fromCharCode(c)),
    })
    fc.assert(
      fc.property(printable, (text) => {
        expect(parseDictionary(`a=${serializeString(text)}`).get('a')).toMatchObject({
          value: { type: 'string', value: text },
        })
      }),
    )
  })
})

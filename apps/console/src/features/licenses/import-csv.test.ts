import { expect, test } from 'vitest'
import { csvOf, readCsvFile, templateCsv } from './import-csv.ts'

test('the template lists the columns, and a custom key if the app allows it', () => {
  expect(templateCsv(false)).toMatch(/^expiresAt,key,note\r\n\d{4}-\d\d-\d\d,,Gets a random key\r\n$/)
  expect(templateCsv(true)).toContain(',MY-OWN-KEY-0001,Your own key\r\n')
})

test('writes rows as a file with the same data', () => {
  const row = { line: 4, outcome: 'created', message: null, sold: {} } as const
  expect(csvOf([{ ...row, key: null, expiresAt: '2030-01-01T00:00:00.000Z', note: '=1, "x"' }])).toBe(
    'expiresAt,key,note\r\n2030-01-01T00:00:00.000Z,,"\'=1, ""x"""\r\n',
  )
})

test('writes the further columns of rows', () => {
  const row = { line: 4, outcome: 'created', message: null, key: null, expiresAt: null, note: null } as const
  expect(
    csvOf([
      { ...row, sold: { term: 'forever' } },
      { ...row, sold: { duration: '30 days' } },
    ]),
  ).toBe('expiresAt,key,note,term,duration\r\n,,,forever,\r\n,,,,30 days\r\n')
})

test('rejects a file that is not UTF-8 text', async () => {
  expect(await readCsvFile(new File(['expiresAt\nä'], 'a.csv'))).toEqual({ text: 'expiresAt\nä' })
  expect(await readCsvFile(new File([new Uint8Array([0xff, 0xfe, 0x61])], 'a.csv'))).toMatchObject({
    error: expect.stringContaining('UTF-8'),
  })
})

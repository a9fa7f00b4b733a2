import { expect, test } from 'vitest'
import { isPlaceholderId, placeholderIds } from '../src/index.ts'

const placeholders = [
  ...placeholderIds,
  ...placeholderIds.map((id) => ` ${id.toUpperCase()}\r\n`),
  ...['', ' ', '0', '00', '0x0', 'F', 'ffffffff', '0000-0000', '00:00:00:00:00:00', 'FF-FF-FF-FF-FF-FF'],
  ...[
    '00000000-0000-0000-0000-000000000000',
    '{FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF}',
    '-',
    '...',
    '0'.repeat(256),
  ],
]

test.each(placeholders)('%j identifies no machine', (hwid) => {
  expect(isPlaceholderId(hwid)).toBe(true)
})

const ids = [
  ...['PC-7F3A-0042', 'C02XL0GTJGH5', 'S-1-5-21-1004336348-1177238915-682003330-512', 'pc-1', '1', 'x', 'ü'],
  ...['00000000-0000-0000-0000-AC1F6B000001', '0f', 'f0f0', '0x', 'nonesuch', 'Default string 2', '中文'],
  ...[
    '4c4c4544-0042-3510-8054-b4c04f4e3132',
    'ffffffff-ffff-ffff-ffff-fffffffffffe',
    'none-of-your-business',
  ],
]

test.each(ids)('%j identifies a machine', (hwid) => {
  expect(isPlaceholderId(hwid)).toBe(false)
})

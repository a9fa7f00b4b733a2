import { readdirSync, readFileSync } from 'node:fs'
import type { ActivityEvent } from '@keyward/contract'
import { expect, test } from 'vitest'
import { labelOf } from './labels.ts'

const program = new URL('../../../../server/src/modules/program/', import.meta.url)

test('every action that a program causes has a label of its own', () => {
  const kinds = readdirSync(program, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(new URL(name, program), 'utf8'))
    .flatMap((text) => [...text.matchAll(/\brecord\('([\w.]+)'/g)].map(([, kind]) => kind as string))
  expect(kinds).toContain('end_user.lease_issued')
  const unnamed = kinds.filter(
    (kind) => labelOf({ kind, code: null } as ActivityEvent) === kind.replaceAll(/[._]/g, ' '),
  )
  expect(unnamed).toEqual([])
})

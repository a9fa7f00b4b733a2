import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Endpoint, endpoints, reservedMessages, verdictOrder } from '../src/index.ts'

const all = Object.values(endpoints).flatMap((group) => Object.values<Endpoint>(group))

test('no endpoint documents a message whose check does not exist', () => {
  const documented = all.flatMap(({ errors = [] }) => errors)
  expect(documented.filter((code) => reservedMessages.includes(code as never))).toEqual([])
})

test('the server throws no reserved message', () => {
  const modules = join(import.meta.dirname, '../../../apps/server/src/modules')
  const sources = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => readFileSync(join(modules, path), 'utf8'))
  for (const key of reservedMessages) {
    expect(verdictOrder).toContain(key)
    expect(sources.filter((source) => source.includes(`'${key}'`))).toEqual([])
  }
})

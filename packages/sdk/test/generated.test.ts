import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { generated } from '../generate.ts'

it.each(generated())('$path matches the contract', ({ path, content }) => {
  expect(readFileSync(path, 'utf8')).toBe(content)
})

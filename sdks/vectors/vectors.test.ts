import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { files, render } from './generate.ts'

it.each(Object.entries(files))('%s holds the generated cases', (name, content) => {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8')
  expect(JSON.parse(text)).toEqual(JSON.parse(render(content)))
})

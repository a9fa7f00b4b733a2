import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const source = join(import.meta.dirname, '..')
/** Words that stay small within the title of a button. */
const small = new Set('a an and as at by for from in into of on or the to with its'.split(' '))
/** The specification's own words. */
const specified = ['API docs', 'Refresh plans']
/** Pages for visitors talk in sentences. */
const isOfVisitors = (file: string) => /^(customer|features\/landing|pages\/public)\//.test(file)

const texts = (file: string): string[] => {
  const code = readFileSync(join(source, file), 'utf8')
  const children = [...code.matchAll(/<Button\b(?:=>|[^<>]|<[A-Z]\w* ?\/>)*>([\s\S]*?)<\/Button>/g)].flatMap(
    ([, inner = '']) =>
      inner
        .replaceAll(/<[^<>]*>/g, '\n')
        .replaceAll(/\{[^{}]*\}/g, (code) => (code.match(/(?<=')[A-Z][^'\n]*(?=')/g) ?? []).join('\n'))
        .split('\n'),
  )
  const labels = [...code.matchAll(/\b(?:submitLabel|confirmLabel|action)(?:=|: )["']([^"'\n]+)["']/g)].map(
    ([, label = '']) => label,
  )
  return [...children, ...labels]
    .map((text) => text.trim())
    .filter((text) => /^[A-Z][A-Za-z ,…&-]*$/.test(text))
}

test('every word of a button of the console begins with a capital letter, but for the small ones', () => {
  const all = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.test)\.tsx?$/.test(file) && !isOfVisitors(file))
    .flatMap((file) => texts(file).map((text) => ({ file, text })))
  expect(all.length).toBeGreaterThan(150)
  const wrong = all.filter(
    ({ text }) =>
      !specified.includes(text) && text.split(' ').some((word) => /^[a-z]/.test(word) && !small.has(word)),
  )
  expect(wrong).toEqual([])
})

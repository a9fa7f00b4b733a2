import { expect, test } from 'vitest'
import { createSeal } from '../../core/crypto.ts'
import { newId } from '../../core/ids.ts'
import { readBuyReference, toBuyReference } from './licenses.rules.ts'

const seal = createSeal('a secret key of the tests, 32+ characters')

test('a reference names one license, is always the same, and survives a new secret key', () => {
  const ids = Array.from({ length: 1000 }, () => newId('lic'))
  const references = ids.map((id) => toBuyReference(seal, id))
  for (const reference of references) expect(reference).toMatch(/^kwr_[A-Za-z0-9_-]{1,56}$/)
  expect(references.map((reference) => readBuyReference(seal, reference))).toEqual(ids)
  expect(new Set(references).size).toBe(ids.length)
  const rotated = { ...createSeal('another key of the tests, 32+ characters'), proof: seal.proof }
  expect(ids.map((id) => toBuyReference(rotated, id))).toEqual(references)
})

test('no text but a reference that this server made names a license', () => {
  const id = newId('lic')
  const reference = toBuyReference(seal, id)
  const foreign = toBuyReference(createSeal('the key of another server, 32+ characters'), id)
  const changed = Array.from({ length: 36 }, (_, at) => {
    const letter = reference[at + 4] === 'A' ? 'B' : 'A'
    return reference.slice(0, at + 4) + letter + reference.slice(at + 5)
  })
  const texts = ['', id, `kwr_${id.slice(4)}`, foreign, `${reference}A`, reference.slice(0, -1), ...changed]
  for (const text of texts) expect(readBuyReference(seal, text)).toBeUndefined()
  expect(readBuyReference(seal, ` ${reference}\n`)).toBe(id)
})

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toRequest } from '../../apps/server/src/modules/offline-activations/offline-activations.rules.ts'
import { everyRow } from '../../apps/server/test/every-row.ts'
import { files, render } from './generate.ts'

it.each(Object.entries(files))('%s holds the generated cases', (name, content) => {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8')
  expect(JSON.parse(text)).toEqual(JSON.parse(render(content)))
})

describe('the server', () => {
  const { cases, readings, rejected } = files['requests.json']

  it('reads the request of every vector', () =>
    everyRow(
      [...cases, ...readings].map((each) => [each.name!, each] as const),
      (_, { appId, request, hwid, ...facts }) => {
        const hwidHash = createHash('sha256').update(hwid!).digest('hex')
        expect(toRequest(appId!, request!)).toMatchObject({
          hwidHash,
          licenseKey: facts.licenseKey,
          nonce: facts.nonce,
        })
      },
    ))

  it('rejects the request of every vector that is none', () =>
    everyRow(
      rejected.map((each) => [each.name!, each] as const),
      (_, { appId, request }) => {
        expect(() => toRequest(appId!, request!)).toThrow(expect.objectContaining({ code: 'invalid_input' }))
      },
    ))
})

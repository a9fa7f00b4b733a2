import { expect, test, vi } from 'vitest'
import { newRingMemory, RingReader, RingWriter } from './signing-ring.ts'

function open() {
  const memory = newRingMemory()
  const [writer, reader] = [new RingWriter(memory), new RingReader(memory)]
  const wake = vi.fn()
  const sign = (
    how: (keyNumber: number, text: string) => string | undefined = (_, text) => `signed ${text}`,
  ) => {
    const [keyNumber, text] = reader.next()
    reader.answer(how(keyNumber, text.toString('latin1')), wake)
  }
  const take = () => {
    const taken: (string | undefined)[] = []
    writer.take((signature) => taken.push(signature))
    return taken
  }
  return { writer, sign, take, wake }
}

test('returns signatures in the order of the texts, each with its key, many times around', () => {
  const { writer, sign, take } = open()
  for (let round = 0; round < 400; round += 1) {
    for (const text of ['a', 'bü', 'ccc']) expect(writer.add(`${text}${round}`, round)).toBe(true)
    for (let count = 0; count < 3; count += 1) sign((keyNumber, text) => `${keyNumber} ${text}`)
    expect(take()).toEqual([`${round} a${round}`, `${round} bü${round}`, `${round} ccc${round}`])
  }
})

test('refuses texts while it is full, and texts that are too long', () => {
  const { writer, sign, take } = open()
  expect(writer.add('x'.repeat(3000), 1)).toBe(false)
  let added = 0
  while (writer.add(`text ${added}`, 1)) added += 1
  expect(added).toBe(512)
  sign()
  expect(writer.add('refused until the signature is taken', 1)).toBe(false)
  expect(take()).toEqual(['signed text 0'])
  expect(writer.add('accepted', 1)).toBe(true)
  for (let count = 0; count < 512; count += 1) sign()
  expect(take().slice(-2)).toEqual(['signed text 511', 'signed accepted'])
})

test('reports a text that could not be signed', () => {
  const { writer, sign, take } = open()
  for (const text of ['a', 'b', 'c']) writer.add(text, 1)
  for (const signature of ['A', undefined, 'C']) sign(() => signature)
  expect(take()).toEqual(['A', undefined, 'C'])
})

test('wakes a server that sleeps for the last text or eight, and no other', () => {
  const { writer, sign, take, wake } = open()
  for (let count = 0; count < 20; count += 1) writer.add('text', 1)
  for (let count = 0; count < 9; count += 1) sign()
  expect(wake).not.toHaveBeenCalled()
  expect(take()).toHaveLength(9)
  sign()
  expect(wake).toHaveBeenCalledTimes(1)
  for (let count = 0; count < 7; count += 1) sign()
  expect(take()).toHaveLength(8)
  for (let count = 0; count < 3; count += 1) sign()
  expect(wake).toHaveBeenCalledTimes(2)
  expect(take()).toHaveLength(3)
})

test('announces to a signer that is about to sleep, however often', () => {
  const memory = newRingMemory()
  const writer = new RingWriter(memory)
  const signerSleeps = new Int32Array(memory, 0, 4).subarray(2, 3)
  signerSleeps[0] = 1
  writer.add('answered before the signer slept', 1)
  writer.wakeSigner()
  // The flag stays: if the writer cleared it, later texts would not wake the signer.
  expect(signerSleeps[0]).toBe(1)
})

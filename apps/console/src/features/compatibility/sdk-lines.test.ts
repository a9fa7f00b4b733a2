import { expect, it } from 'vitest'
import { linesToChange, oldPublicKey, oldSdks } from './sdk-lines.ts'

const publicKey = 'ab'.repeat(32)
const baseUrl = 'https://keys.example.com'
const sdkOf = (name: string) => oldSdks.find(({ label }) => label === name) as (typeof oldSdks)[number]

it('names the address of each protocol, and the public key only for libraries that contain one', () => {
  const protocols = ['1.2', '1.3'] as const
  expect(linesToChange(sdkOf('C#'), { protocols, publicKey, baseUrl }).split('\n')).toEqual([
    '- https://keyauth.win/api/1.2/',
    '+ https://keys.example.com/api/1.2/',
    '- https://keyauth.win/api/1.3/',
    '+ https://keys.example.com/api/1.3/',
    `- ${oldPublicKey}`,
    `+ ${publicKey}`,
  ])
  expect(linesToChange(sdkOf('Rust'), { protocols, publicKey, baseUrl })).not.toContain(publicKey)
  expect(linesToChange(sdkOf('C#'), { protocols: ['1.2'], publicKey, baseUrl })).not.toContain(publicKey)
})

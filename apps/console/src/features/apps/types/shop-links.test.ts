import { expect, test } from 'vitest'
import { adviceOn, sampleOf, sampleReference } from './shop-links.ts'

test.each([
  ['https://buy.stripe.com/abc', 'https://buy.stripe.com/abc?client_reference_id={reference}'],
  [
    'https://buy.stripe.com/abc?locale=de#top',
    'https://buy.stripe.com/abc?locale=de&client_reference_id={reference}#top',
  ],
  [
    'https://me.lemonsqueezy.com/checkout/buy/1',
    'https://me.lemonsqueezy.com/checkout/buy/1?checkout[custom][reference]={reference}',
  ],
])('a link %s that returns no reference becomes %s, which does', (link, better) => {
  expect(adviceOn(link)).toMatchObject({ better })
  expect(adviceOn(better)).toBeUndefined()
  expect(sampleOf(better)).toContain(sampleReference)
})

test.each([
  'https://me.gumroad.com/l/pro',
  'https://shop.example.com/pro',
  'https://me.lemonsqueezy.com/checkout/buy/1?checkout%5Bcustom%5D%5Breference%5D={reference}',
  'http://buy.stripe.com/abc',
  '',
])('says nothing about %j', (link) => {
  expect(adviceOn(link)).toBeUndefined()
})

test('warns where nothing can be added to the link', () => {
  expect(adviceOn('https://pay.paddle.io/checkout/hsc_1')?.text).toContain('customData')
  expect(adviceOn('https://me.gumroad.com/l/pro?id={reference}')).toEqual({
    text: expect.stringContaining('Gumroad returns the reference only as reference.'),
  })
})

import { expect, test } from 'vitest'
import { backgrounds, brandColors, contrast, textContrast } from './brand.ts'

const steps = [0, 17, 51, 85, 102, 119, 136, 170, 204, 238, 255]
const hex = (value: number) => value.toString(16).padStart(2, '0')
const colors = steps.flatMap((red) =>
  steps.flatMap((green) => steps.map((blue) => `#${hex(red)}${hex(green)}${hex(blue)}`)),
)

test('computes the contrast ratios of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrast('#ffffff', '#767676')).toBeCloseTo(4.54, 2)
  expect(contrast('#4353e0', '#4353e0')).toBe(1)
})

test('every brand color gives readable buttons and texts, light and dark', () => {
  const unreadable = colors.filter((color) => {
    const { fill, onFill, text } = brandColors(color)
    const pairs = [
      [onFill, fill],
      ...backgrounds.light.map((behind) => [text.light, behind]),
      ...backgrounds.dark.map((behind) => [text.dark, behind]),
    ]
    return fill !== color || pairs.some(([front, behind]) => contrast(front!, behind!) < textContrast)
  })
  expect(colors).toHaveLength(1331)
  expect(unreadable).toEqual([])
})

test('a readable brand color is shown as it is', () => {
  expect(brandColors('#0A4D2C').text.light).toBe('#0a4d2c')
  expect(brandColors('#ffd54a').text.dark).toBe('#ffd54a')
})

test('without a color, or with a text that is none, the page has the color of Keyward', () => {
  for (const color of [null, '', 'red', '#12345', 'url(https://example.com)'])
    expect(brandColors(color).fill).toBe('#4353e0')
})

/** The smallest contrast of text with what is behind it (WCAG 2.2, AA). */
export const textContrast = 4.5

/** What is behind text of the brand's color: the lightest and the darkest that customer.css uses in each theme. */
export const backgrounds = {
  light: ['#ffffff', '#f4f4f6'],
  dark: ['#0b0c0f', '#1e2026'],
} as const

const accent = '#4353e0'

export interface BrandColors {
  /** The background of buttons: the brand's color as the vendor chose it. */
  fill: string
  onFill: string
  /** The brand's color as text, as near to the choice as it can be read. */
  text: { light: string; dark: string }
}

/** The colors of a page in a brand's color, with enough contrast for any choice. */
export function brandColors(color: string | null): BrandColors {
  const fill = /^#[\da-f]{6}$/i.test(color ?? '') ? (color as string).toLowerCase() : accent
  return {
    fill,
    // One of both always has 4.58, the square root of 21.
    onFill: contrast(fill, '#ffffff') >= textContrast ? '#ffffff' : '#000000',
    text: {
      light: readable(fill, '#000000', backgrounds.light),
      dark: readable(fill, '#ffffff', backgrounds.dark),
    },
  }
}

/** The color, mixed with another one until it can be read on all backgrounds. */
function readable(color: string, with_: string, behind: readonly string[]): string {
  for (let part = 0; part < 1; part += 0.02) {
    const mixed = mix(color, with_, part)
    if (behind.every((background) => contrast(mixed, background) >= textContrast)) return mixed
  }
  return with_
}

function mix(from: string, to: string, part: number): string {
  const [start, end] = [channels(from), channels(to)]
  return `#${start
    .map((value, at) => Math.round(value + (end[at]! - value) * part))
    .map((value) => value.toString(16).padStart(2, '0'))
    .join('')}`
}

/** The contrast ratio of two colors, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (lighter! + 0.05) / (darker! + 0.05)
}

/** Relative luminance, as WCAG defines it. */
function luminance(color: string): number {
  const [red, green, blue] = channels(color).map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

const channels = (color: string) => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))

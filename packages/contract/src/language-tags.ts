// This file has no schemas: pages of the console read tags without them.

/** The longest language tag, in characters. */
export const tagMax = 35

/**
 * A language tag in its canonical form, from a BCP 47 tag (`pt-br`) or an operating system's name (`de_AT.UTF-8`);
 * undefined if it names no language.
 */
export function canonicalLocale(name: string): string | undefined {
  const tag = name
    .trim()
    .replace(/[.@].*$/, '')
    .replaceAll('_', '-')
  if (tag.length > tagMax) return undefined
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    return undefined
  }
}

/** The tags to look a text up by, from the most exact one on: `zh-Hant-TW`, `zh-Hant`, `zh` (RFC 4647, lookup). */
export function lookupTags(locale: string): string[] {
  const tags: string[] = []
  const parts = locale.split('-')
  while (parts.length > 0) {
    tags.push(parts.join('-'))
    parts.pop()
    // A single letter or digit only introduces what follows it.
    if (parts.at(-1)?.length === 1) parts.pop()
  }
  return tags
}

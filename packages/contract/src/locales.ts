import { z } from 'zod'

/** The longest language tag, in characters. */
const tagMax = 35

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

/** The language of texts; a request without it means the default texts. */
export const localeQuery = z.object({
  locale: z
    .string()
    .max(tagMax)
    .refine((tag) => canonicalLocale(tag) !== undefined, 'Expected a language tag such as "de" or "pt-BR"')
    .optional(),
})

/** The language of a program. One that is unknown or unreadable gets the default texts, so that no program fails for it. */
export const programLocale = z
  .string()
  .max(100)
  .optional()
  .describe('language of the texts, for example "de-AT"')

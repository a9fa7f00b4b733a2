import { z } from 'zod'
import { canonicalLocale, tagMax } from './language-tags.ts'

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

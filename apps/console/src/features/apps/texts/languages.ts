import { canonicalLocale } from '@keyward/contract'
import type { SelectOption } from '../../../ui/select-props.ts'

/** What vendors translate into most; any other language can be searched for. */
const common =
  'ar cs da de el es fi fr he hi hu id it ja ko nb nl pl pt-BR pt-PT ro ru sv th tr uk vi zh-Hans zh-Hant'.split(
    ' ',
  )

const names = new Intl.DisplayNames(['en'], { type: 'language' })

export const languageName = (locale: string): string => names.of(locale) ?? locale

export const defaultLanguage: SelectOption = { value: 'default', label: 'Default texts' }

const toOption = (locale: string): SelectOption => ({
  value: locale,
  label: `${languageName(locale)} (${locale})`,
})

/** The default texts, the languages that have texts, then the common ones. */
export function languageOptions(used: readonly string[], general = defaultLanguage): SelectOption[] {
  const others = common.filter((locale) => !used.includes(locale)).map(toOption)
  const byName = (a: SelectOption, b: SelectOption) => a.label.localeCompare(b.label, 'en')
  return [
    general,
    ...used.map(toOption).sort(byName),
    ...others.sort(byName).map((option) => ({ ...option, label: `${option.label} · add` })),
  ]
}

/** The languages whose name or tag contains a text, and the one that the text is a tag of. */
export function findLanguages(
  text: string,
  used: readonly string[],
  general = defaultLanguage,
): SelectOption[] {
  const found = languageOptions(used, general).filter(({ label }) =>
    label.toLowerCase().includes(text.toLowerCase()),
  )
  const typed = canonicalLocale(text)
  // Every word has the form of a tag; only a known one has a name.
  if (!typed || languageName(typed) === typed || found.some(({ value }) => value === typed)) return found
  return [...found, toOption(typed)]
}

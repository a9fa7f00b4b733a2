import type { Texts } from './texts/en.ts'

/** The languages of the page: the name in the language itself, the tag of its texts, and the file with them. */
export const languages = {
  en: { name: 'English', tag: 'en', load: async () => (await import('./texts/en.ts')).en },
  de: { name: 'Deutsch', tag: 'de', load: async () => (await import('./texts/de.ts')).de },
  es: { name: 'Español', tag: 'es', load: async () => (await import('./texts/es.ts')).es },
  pt: { name: 'Português', tag: 'pt-BR', load: async () => (await import('./texts/pt.ts')).pt },
  zh: { name: '中文', tag: 'zh-Hans', load: async () => (await import('./texts/zh.ts')).zh },
} as const satisfies Record<string, { name: string; tag: string; load: () => Promise<Texts> }>

export type Language = keyof typeof languages
export const languageCodes = Object.keys(languages) as Language[]

const codeOf = (tag: string) => tag.toLowerCase().split('-')[0] ?? ''

export const isLanguage = (code: string | null): code is Language =>
  code !== null && (languageCodes as string[]).includes(code)

/** The first language that the person reads and the page has; English if there is none. */
export function chooseLanguage(preferred: readonly string[]): Language {
  return preferred.map(codeOf).find(isLanguage) ?? 'en'
}

/** The tag for dates and numbers: the person's own variant of the language, for example `de-AT`. */
export function chooseLocale(language: Language, preferred: readonly string[]): string {
  return preferred.find((tag) => codeOf(tag) === language) ?? languages[language].tag
}

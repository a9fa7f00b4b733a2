import { readStored, writeStored } from '../lib/browser/stored.ts'
import { formats } from './format.ts'
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

const key = 'keyward-customer-language'
export const rememberLanguage = (language: Language) => writeStored(key, language)

/** The language that the address names, that was chosen before, or else one that the person reads. */
export function firstLanguage(): Language {
  const named = new URLSearchParams(window.location.search).get('language')
  return [named, readStored(key)].find(isLanguage) ?? chooseLanguage(navigator.languages)
}

/** The tag for dates and numbers: the person's own variant of the language, for example `de-AT`. */
export function chooseLocale(language: Language, preferred: readonly string[]): string {
  return preferred.find((tag) => codeOf(tag) === language) ?? languages[language].tag
}

/** A language with all that is written in it. */
export async function loadWords(language: Language) {
  const { tag, load } = languages[language]
  const texts: Texts = await load()
  return { language, tag, texts, formats: formats(chooseLocale(language, navigator.languages)) }
}

export type Words = Awaited<ReturnType<typeof loadWords>>

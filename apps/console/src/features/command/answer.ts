import type { MessageKey } from '@keyward/contract'
import type { MailLanguage } from './ticket.ts'

/** The texts of the customer's page, so that the answer and the page say the same. */
const texts = {
  en: async () => (await import('../../customer/texts/en.ts')).en,
  de: async () => (await import('../../customer/texts/de.ts')).de,
  es: async () => (await import('../../customer/texts/es.ts')).es,
  pt: async () => (await import('../../customer/texts/pt.ts')).pt,
  zh: async () => (await import('../../customer/texts/zh.ts')).zh,
}

const frames: Record<MailLanguage, { name: string; greeting: string; closing: string }> = {
  en: { name: 'English', greeting: 'Hello,', closing: 'Kind regards' },
  de: { name: 'Deutsch', greeting: 'Guten Tag,', closing: 'Freundliche Grüße' },
  es: { name: 'Español', greeting: 'Hola:', closing: 'Un saludo' },
  pt: { name: 'Português', greeting: 'Olá,', closing: 'Atenciosamente' },
  zh: { name: '中文', greeting: '您好：', closing: '此致敬礼' },
}

export const answerLanguages = Object.entries(frames).map(([value, { name }]) => ({ value, label: name }))

/** What these texts advise is done on the customer's page. */
const onPage: readonly MessageKey[] = ['keyNotFound', 'keyUsed', 'passMismatch', 'hwidMismatch']

interface Refused {
  code: MessageKey
  /** Whether the reason no longer applies. */
  isSolved: boolean
  /** The address of the customer's page; undefined if the app has none. */
  page: string | undefined
}

/** An answer to a customer whose program was refused, to be copied; in the words of the customer's page. */
export async function answerFor(language: MailLanguage, { code, isSolved, page }: Refused): Promise<string> {
  const { refusals, refusal, licenses } = await texts[language]()
  const words = refusals[code as keyof typeof refusals]
  const { greeting, closing } = frames[language]
  const advice = page !== undefined || !onPage.includes(code) ? words?.fix : undefined
  return [
    greeting,
    [words?.why, isSolved ? refusal.solved : advice].filter(Boolean).join(' '),
    page && `${licenses.title}: ${page}`,
    closing,
  ]
    .filter(Boolean)
    .join('\n\n')
}

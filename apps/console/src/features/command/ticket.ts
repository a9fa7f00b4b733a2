import { toReference } from './references.ts'

/** What a customer's mail names, each of them most likely first. */
export interface Ticket {
  addresses: string[]
  /** License keys, and `kwr_…` references of licenses. */
  keys: string[]
  orders: string[]
  /** References of refusals. */
  references: string[]
}

/** A longer mail is read up to here, so that no paste stops the page. */
const readAtMost = 65_536
const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', nbsp: ' ' }

const toCharacter = (whole: string, decimal?: string, hexadecimal?: string) => {
  const code = decimal ? Number(decimal) : Number.parseInt(hexadecimal ?? '', 16)
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole
}

/** The text of a mail without tags, entities, soft line breaks, marks of quotes and of markdown. */
const toPlainText = (mail: string): string =>
  mail
    .slice(0, readAtMost)
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/(?<=[^\n]{60})=\n/g, '')
    .replaceAll('=3D', '=')
    .replaceAll(/<\/?(?:br|p|div|tr|td|li|h\d)(?:\s[^<>]{0,2000})?\/?>/gi, '\n')
    .replaceAll(/<\/?[a-z][a-z\d]{0,20}(?:\s[^<>]{0,2000})?\/?>/gi, '')
    .replaceAll(/&(lt|gt|amp|quot|nbsp);/g, (_, name: string) => entities[name] ?? '')
    .replaceAll(/&#(?:(\d{1,7})|x([\da-f]{1,6}));/gi, toCharacter)
    .replaceAll(/[\u00ad\u200b-\u200d\u2060\ufeff]/g, '')
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll('\u00a0', ' ')
    .replaceAll(/^[ \t]*(?:[>|][ \t]?)+/gm, '')
    .replaceAll(/[*`]/g, '')

const all = (text: string, form: RegExp): string[] =>
  Array.from(text.matchAll(form), (found) => found[1] ?? found[0])
const unique = (values: readonly string[]): string[] => [...new Set(values)]
const hasDigit = (text: string) => /\d/.test(text)

/** Lines of a mail break keys, and people leave out dashes. */
const keyForm =
  /(?<![A-Za-z\d-])[A-Z\d]{5}(?:(?:\s{0,3}-\s{0,3}| )[A-Z\d]{5}){4}(?![A-Za-z\d-])|(?<![A-Za-z\d-])[a-z\d]{5}(?:\s{0,3}-\s{0,3}[a-z\d]{5}){4}(?![A-Za-z\d-])/g
const namedKeyForm =
  /(?:licen[sc]e|licencia|licença|serial|\bkey|schl(?:ü|ue)ssel|clave|chave|密钥|许可证)[^\p{L}\p{N}\n]{1,6}([A-Za-z\d][\w-]{7,99})/giu
const buyReferenceForm = /(?<![A-Za-z\d])kwr_[\w-]{1,56}/g

function keysOf(text: string): string[] {
  const generated = all(text, keyForm)
    .map((key) => key.replaceAll(/[\s-]+/g, '-').toUpperCase())
    .filter(hasDigit)
  const named = all(text, namedKeyForm).filter((key) => hasDigit(key) && !key.startsWith('kwr_'))
  const isPart = (key: string) =>
    generated.some((whole) => whole.startsWith(key.toUpperCase().replace(/-$/, '')))
  return unique([...generated, ...named.filter((key) => !isPart(key)), ...all(text, buyReferenceForm)])
}

const namedOrderForm =
  /(?:(?<![a-z])(?:order|purchase|invoice|receipt)|bestell(?:ung|nummer)?|auftrag(?:snummer)?|rechnung(?:snummer)?|pedido|compra|factura|fatura|encomenda|订单)(?:[ \t-]{0,2}(?:id|no|nr|nº|number|nummer|num|número|号))?[\s.:：#º"„“(_]{1,4}([A-Za-z\d][\w/-]{2,63})/giu
const shopOrderForm =
  /(?<![\w/])(?:cs_(?:live|test)_|(?:pi|ch|in|sub|txn|ord|order|pay|inv)_)[A-Za-z\d]{6,64}(?!\w)/g
const numberSignForm = /(?<![\w&/])#([A-Za-z\d][A-Za-z\d-]{2,39})/g
const isDate = (text: string) => /^\d{1,4}[/-]\d{1,2}[/-]\d{1,4}$/.test(text)

const ordersOf = (text: string): string[] =>
  unique(
    [...all(text, namedOrderForm), ...all(text, shopOrderForm), ...all(text, numberSignForm)].map((order) =>
      order.replace(/[-/_]+$/, ''),
    ),
  ).filter((order) => hasDigit(order) && !isDate(order))

const namedReferenceForm =
  /(?:reference|referenz|referencia|referência|\bref|参考)[^\p{L}\p{N}\n]{1,6}(?:(?:no|nr|number|nummer|is|ist)[^\p{L}\p{N}\n]{1,4})?([A-Za-z\d-]{10,12})(?![\w-])/giu
const referenceForm = /(?<![\w#/-])(?=\d*[A-Z])(?=[A-Z]*\d)[A-Z\d]{10}(?![\w-])/g

const referencesOf = (text: string): string[] =>
  unique(
    [...all(text, namedReferenceForm), ...all(text, referenceForm)].flatMap((one) => toReference(one) ?? []),
  )

const addressForm =
  /(?<![\p{L}\p{N}.+_%-])[\p{L}\p{N}][\p{L}\p{N}!#$%&'+=?^_{}~.-]{0,63}@[\p{L}\p{N}][\p{L}\p{N}.-]{0,190}\.\p{L}{2,24}/gu
const machines = /^(?:no-?reply|do-?not-?reply|mailer-daemon|postmaster|bounces?)\b/
const publicDomains =
  /@(?:gmail|googlemail|outlook|hotmail|live|yahoo|icloud|me|gmx|web|t-online|qq|163|126|proton|protonmail|mail|aol|uol)\.[a-z.]+$/
const domainOf = (address: string) => address.slice(address.lastIndexOf('@'))

const senderLine = /^\s*(?:from|reply-to|von|antwort an|de|responder a|发件人)\s*[:：]/i
const receiverLine = /^\s*(?:to|cc|an|para|收件人|抄送)\s*[:：]/i
const forwarded =
  /(?:forwarded message|weitergeleitete nachricht|mensaje reenviado|mensagem encaminhada|转发的邮件)/i

/** Who sent the mail comes first, above all the one that was forwarded; then the text, its signature, and who got it. */
function addressesOf(text: string, own: readonly string[]): string[] {
  const ours = own.map((address) => address.toLowerCase())
  const ourDomains = ours.map(domainOf).filter((domain) => !publicDomains.test(domain))
  let [isForwarded, isSignature] = [false, false]
  const placed = text.split('\n').flatMap((line) => {
    if (forwarded.test(line)) isForwarded = true
    if (/^--\s*$/.test(line)) isSignature = true
    const isSender = senderLine.test(line)
    if (isSender) isSignature = false
    const place = receiverLine.test(line) ? 4 : isSender ? (isForwarded ? 0 : 1) : isSignature ? 3 : 2
    return all(line, addressForm).map((address) => ({ place, address: address.toLowerCase() }))
  })
  return unique(
    placed
      .toSorted((one, other) => one.place - other.place)
      .map(({ address }) => address)
      .filter((address) => !machines.test(address) && !ours.includes(address))
      .filter((address) => !ourDomains.includes(domainOf(address))),
  )
}

/** Reads a customer's mail in the browser; `own` are the vendor's addresses, which are no customer's. */
export function readTicket(mail: string, own: readonly string[] = []): Ticket {
  const text = toPlainText(mail)
  const keys = keysOf(text)
  const orders = ordersOf(text).filter((order) => !keys.some((key) => key.includes(order.toUpperCase())))
  return {
    addresses: addressesOf(text, own),
    keys,
    orders,
    references: referencesOf(text).filter((reference) => !orders.includes(reference)),
  }
}

const frequent = {
  en: 'the and not is my please with you have it hello hi thanks this',
  de: 'der die das und nicht ich ist mit bitte mein hallo danke ein auf es',
  es: 'el los que por mi gracias hola una con está puedo mis su',
  pt: 'olá obrigado obrigada uma meu minha você os eu está não',
}
export type MailLanguage = keyof typeof frequent | 'zh'

/** The language in which the customer wrote, of those of the customer's page: the first lines that are no quote decide. */
export function languageOf(mail: string): MailLanguage {
  const lines = mail.slice(0, readAtMost).split('\n')
  const own = lines.filter((line) => !/^\s*[>|]/.test(line)).join('\n')
  const text = toPlainText(own.trim() === '' ? mail : own)
    .slice(0, 2000)
    .toLowerCase()
  if ((text.match(/\p{Script=Han}/gu)?.length ?? 0) > 10) return 'zh'
  const words = text.match(/\p{L}+/gu) ?? []
  const count = (language: keyof typeof frequent) => {
    const known = new Set(frequent[language].split(' '))
    return words.filter((word) => known.has(word)).length
  }
  const languages = Object.keys(frequent) as (keyof typeof frequent)[]
  return languages.reduce((best, one) => (count(one) > count(best) ? one : best))
}

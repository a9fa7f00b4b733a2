import { expect, test } from 'vitest'
import { languageOf, readTicket, type Ticket } from './ticket.ts'

const key = 'A1B2C-D3E4F-G5H6J-K7L8M-N9P0Q'
const own = ['ada@tally.example', 'tally.help@gmail.com']
const nothing: Ticket = { addresses: [], keys: [], orders: [], references: [] }

const mails: [name: string, mail: string, found: Partial<Ticket>, language: string][] = [
  ['a key alone', `Hello, my key ${key} does not work.`, { keys: [key] }, 'en'],
  [
    'a German mail',
    `Hallo,\nmein Schlüssel ist ${key} und das Programm startet nicht.\nBestellnummer: R-20417\n\nGruß\nJürgen\n\n-- \njuergen@müller.example`,
    { addresses: ['juergen@müller.example'], keys: [key], orders: ['R-20417'] },
    'de',
  ],
  [
    'a forwarded mail',
    `See below.\n\n---------- Forwarded message ---------\nFrom: Rosa Parks <rosa@customer.example>\nDate: Mon, 30 Nov 2026\nSubject: Key\nTo: <support@tally.example>\n\nPlease help, order #1042.`,
    { addresses: ['rosa@customer.example'], orders: ['1042'] },
    'en',
  ],
  [
    'forwarded by a colleague elsewhere',
    `From: Bob <bob@agency.example>\nFYI\n\n-------- Weitergeleitete Nachricht --------\nVon: Rosa <rosa@customer.example>\nAn: bob@agency.example\n\nich bitte um Hilfe, das Programm ist nicht da`,
    { addresses: ['rosa@customer.example', 'bob@agency.example'] },
    'de',
  ],
  [
    'a key broken by a quote',
    `> > my key is A1B2C-D3E4F-\n> > G5H6J-K7L8M-N9P0Q\n\nNothing since then.`,
    { keys: [key] },
    'en',
  ],
  [
    'HTML pasted as text',
    `<div style="color:#ff0000">My key:&nbsp;<b>A1B2C</b>-D3E4F-G5H6J-K7L8M-N9P0Q<br>from <a href="mailto:x@y.example">rosa@customer.example</a></div>`,
    { addresses: ['rosa@customer.example'], keys: [key] },
    'en',
  ],
  [
    'HTML with encoded brackets',
    'From: Rosa &lt;rosa@customer.example&gt;<p>Order&nbsp;no.&#58; TLY-7781</p>',
    { addresses: ['rosa@customer.example'], orders: ['TLY-7781'] },
    'en',
  ],
  [
    'a soft line break of the mail',
    `This line is as long as mail programs allow, and the key is in it: A1B2C-D3=\nE4F-G5H6J-K7L8M-N9P0Q`,
    { keys: [key] },
    'en',
  ],
  [
    'markdown',
    `**Key:** \`${key}\`, _order_ **INV-2026-118**`,
    { keys: [key], orders: ['INV-2026-118'] },
    'en',
  ],
  [
    'typed in small letters with long dashes',
    'a1b2c–d3e4f–g5h6j–k7l8m–n9p0q is not accepted',
    { keys: [key] },
    'en',
  ],
  ['typed without dashes', 'My key A1B2C D3E4F G5H6J K7L8M N9P0Q', { keys: [key] }, 'en'],
  [
    'a reference of a refusal',
    'It says: The device does not match. Reference: P2J09YBXD1',
    { references: ['P2J09YBXD1'] },
    'en',
  ],
  [
    'a reference in small letters, named in Spanish',
    'Hola, el programa no funciona y no puedo trabajar. Referencia: p2j0-9ybxd1. Gracias',
    { references: ['P2J09YBXD1'] },
    'es',
  ],
  [
    'a link to the shop',
    'I paid at https://shop.example/pay?reference=kwr_AbC-12_xyz&x=1 and nothing changed.',
    { keys: ['kwr_AbC-12_xyz'] },
    'en',
  ],
  [
    'numbers of shops',
    'Charged twice: cs_live_a1B2c3D4e5F6g7 and txn_01hv8x2abc',
    { orders: ['cs_live_a1B2c3D4e5F6g7', 'txn_01hv8x2abc'] },
    'en',
  ],
  [
    'a key of the vendor’s own form',
    'Olá, minha chave: TALLY-PRO-2026-0007 não funciona. Pedido nº 8812. Obrigado',
    { keys: ['TALLY-PRO-2026-0007'], orders: ['8812'] },
    'pt',
  ],
  [
    'Chinese',
    '您好，我的密钥：A1B2C-D3E4F-G5H6J-K7L8M-N9P0Q 无法使用，订单号：88123，请帮我看一下。',
    { keys: [key], orders: ['88123'] },
    'zh',
  ],
  [
    'the vendor’s own addresses and machines',
    'From: noreply@shop.example\nTo: support@tally.example\nCc: tally.help@gmail.com, MAILER-DAEMON@mx.example\n\nrosa+tally@gmail.com bought it.',
    { addresses: ['rosa+tally@gmail.com'] },
    'en',
  ],
  [
    'a signature with other addresses',
    'It stopped today.\nRosa, rosa@customer.example\n-- \nCustomer Inc., info@customer-inc.example\nDPO: privacy@customer-inc.example',
    {
      addresses: ['rosa@customer.example', 'info@customer-inc.example', 'privacy@customer-inc.example'],
    },
    'en',
  ],
  [
    'words that look like something',
    'In order to start I used my license yesterday, on 2026-11-30. There would still never again be ADDITIONAL trouble; order 2026-11-30.',
    {},
    'en',
  ],
]

test('twenty mails of customers give what they name, and nothing else', () => {
  expect(mails).toHaveLength(20)
  for (const [name, mail, found, language] of mails) {
    expect(readTicket(mail, own), name).toEqual({ ...nothing, ...found })
    expect(languageOf(mail), name).toBe(language)
  }
})

test('a mail is read up to 64 kB, also where each character could begin something', () => {
  const late = `${' '.repeat(65_536)}${key}`
  expect(readTicket(late)).toEqual(nothing)
  for (const part of ['A1B2C-', '<a ', 'a@', '> ', 'key ', '&#1', 'order #', 'x=\n', '%20%20'])
    expect(() => readTicket(part.repeat(200_000)), part).not.toThrow()
})

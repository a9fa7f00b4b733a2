import { plainText, type Sdk } from './program.ts'

// Protocol 1.1: nothing is signed or encrypted. These programs believe every server.

const start: Sdk['start'] = () => ({
  seal: (_type, fields) => fields,
  open: (_type, answer) => plainText(answer),
})

/** Everything in the address: what a handful of lines in any language do. */
export const bareGet: Sdk = { name: 'GET 1.1', protocol: '1.1', sending: 'query', hwid: (id) => id, start }

/** Names the old provider's host whatever its address is, and calls the hardware id of Linux `null`. */
export const javaScript11: Sdk = {
  name: 'JavaScript 1.1',
  protocol: '1.1',
  sending: 'form',
  host: 'keyauth.win',
  hwid: () => 'null',
  renamed: { 'var.varid': 'var' },
  start,
}

import type { SmtpSink } from './smtp-sink.ts'

/** The links with a token in the messages to an address, in order of arrival. */
export const mailedLinks = (sink: SmtpSink, to: string): string[] =>
  textsTo(sink, to).flatMap((text) => /https?:\/\/\S+#kw[pil]_[\w-]{43}/.exec(text)?.[0] ?? [])

/** The messages to an address as decoded text. */
export const textsTo = (sink: SmtpSink, to: string): string[] =>
  sink.received
    .filter((one) => one.to.includes(to))
    .map(({ body }) =>
      body
        .replace(/=\r\n/g, '')
        .replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    )

import type { Readable } from 'node:stream'

/** Data, mostly with a message next to it. */
export class WithMessage<Data> {
  readonly data: Data
  readonly message: string | undefined

  constructor(data: Data, message: string | undefined) {
    this.data = data
    this.message = message
  }
}

/** A file instead of JSON, for endpoints that declare its media type; sent while it is being written. */
export class FileAnswer {
  /** What a file to save is called; undefined for a page that is shown. */
  readonly name: string | undefined
  readonly type: string
  readonly content: Readable
  readonly headers: Readonly<Record<string, string>>

  constructor(file: {
    name?: string
    type: string
    content: Readable
    headers?: Readonly<Record<string, string>>
  }) {
    this.name = file.name
    this.type = file.type
    this.content = file.content
    this.headers = file.headers ?? {}
  }
}

/** Server-sent events, for endpoints that declare them; open until either side closes the stream. */
export class StreamAnswer {
  readonly content: Readable

  constructor(content: Readable) {
    this.content = content
  }
}

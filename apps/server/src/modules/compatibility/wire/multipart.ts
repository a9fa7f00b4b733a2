const fieldsMax = 256

/** The fields of a body of `multipart/form-data`. Files count as text; a body without its end gives what it has. */
export function readMultipart(body: string): Map<string, string> {
  const fields = new Map<string, string>()
  const [, boundary] = /^(?:\r?\n)*(--[^\r\n]{1,200})\r?\n/.exec(body) ?? []
  if (boundary === undefined) return fields
  const parts = body.split(boundary, fieldsMax + 2).slice(1)
  for (const part of parts) {
    if (part.startsWith('--')) break
    const [head, content] = halves(part)
    const name = /\bname="([^"\r\n]*)"/i.exec(head)?.[1] ?? /\bname=([^;\s"]+)/i.exec(head)?.[1]
    if (name && !fields.has(name)) fields.set(name, content.replace(/\r?\n$/, ''))
  }
  return fields
}

/** The headers of a part, and what follows the empty line. */
function halves(part: string): [string, string] {
  const empty = /\r?\n\r?\n/.exec(part)
  return empty ? [part.slice(0, empty.index), part.slice(empty.index + empty[0].length)] : [part, '']
}

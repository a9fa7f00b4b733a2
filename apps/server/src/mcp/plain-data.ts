/** Longer texts are cut. Of those that people fill in only notes on customers can be longer. */
const textMax = 400

/** Characters that hide, reorder or imitate text: controls, invisible and unassigned ones, unusual spaces. */
const hidden = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu

/** A text that customers or programs typed, with `\u{…}` for each character that a reader would not see. */
export function toPlainText(text: string): string {
  const cut = text.length > textMax ? `${text.slice(0, textMax)}…` : text
  return cut.replace(hidden, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** An answer of the API with plain texts, and `id` for `_id`. */
export function toPlainData(value: unknown): unknown {
  if (typeof value === 'string') return toPlainText(value)
  if (Array.isArray(value)) return value.map(toPlainData)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name === '_id' ? 'id' : name, toPlainData(each)]),
  )
}

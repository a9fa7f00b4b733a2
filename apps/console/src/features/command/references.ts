/** The reference of a refusal in a text; undefined if the text cannot be one. */
export function toReference(text: string): string | undefined {
  const reference = text.replaceAll(/[\s-]/g, '').toUpperCase()
  // Older references can lack a digit; words are rarely typed in capitals.
  const isWord = !/\d/.test(reference) && text !== text.toUpperCase()
  return /^[0-9A-Z]{10}$/.test(reference) && !isWord ? reference : undefined
}

// Passwords of other systems: bcrypt, of the password as typed or as a PHP server stripped it.

const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/

/** The stored hash of an end user without a password: no password matches it. */
export const missingPassword = '!'

/** Each step doubles the time that a comparison takes; 12 takes a quarter of a second. */
const costMost = 12
const costLeast = 4
/** The cost at which bcrypt takes about as long as argon2id does with our parameters. */
const costOfOurs = 8

/** Whether a hash of another system can be compared here, and is not made to keep the server busy. */
export function isImportedHash(hash: string): boolean {
  const cost = costOf(hash)
  return cost >= costLeast && cost <= costMost
}

/** The bcrypt cost of a hash; NaN of any other one. */
export const costOf = (hash: string): number => Number(bcrypt.exec(hash)?.[1])

/** How many of our own hashes take as long as comparing a password with an imported hash. */
export function costOfComparing(hash: string, typed: string): number {
  return costOfComparingAt(costOf(hash), typed)
}

export const costOfComparingAt = (cost: number, typed: string): number =>
  formsOfPassword(typed).length * Math.max(1, 2 ** (cost - costOfOurs))

/** Passwords with which an imported hash is compared: as typed, then without what PHP servers removed. */
export function formsOfPassword(typed: string): string[] {
  const stripped = stripTags(trim(typed))
  // bcrypt in C ends at a NUL: everything behind it would be accepted.
  return [...new Set([typed, stripped])].filter((form) => form !== '' && !form.includes('\0'))
}

const trim = (text: string): string => text.replace(/^[ \t\n\r\0\v]+|[ \t\n\r\0\v]+$/g, '')

/** Removes tags and NULs: a `<` before anything but white space opens a tag, and so does one at the end. */
function stripTags(text: string): string {
  let [kept, at] = ['', 0]
  for (;;) {
    const open = text.slice(at).search(/<(?!\s)/) + at
    if (open < at) return (kept + text.slice(at)).replaceAll('\0', '')
    kept += text.slice(at, open)
    at = endOfTag(text, open)
  }
}

/** Behind the `>` that is neither quoted nor that of a tag within the tag; the end without one. */
function endOfTag(text: string, open: number): number {
  if (text.startsWith('<!--', open)) {
    const end = text.indexOf('-->', open)
    return end < 0 ? text.length : end + 3
  }
  let [quote, depth] = ['', 0]
  for (let at = open + 1; at < text.length; at += 1) {
    const character = text[at] as string
    if (character === '>' && depth > 0) depth -= 1
    else if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '>') return at + 1
    else if (character === '"' || character === "'") quote = character
    else if (character === '<' && !/\s/.test(text[at + 1] ?? '')) depth += 1
  }
  return text.length
}

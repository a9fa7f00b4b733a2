/** Texts as literals of each language, on one line and in ASCII where a compiler might read the file in another encoding. */

/** Line ends, control characters and other invisible characters. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')
const toUnits = (text: string) => text.replace(/[\s\S]/g, (unit) => `\\u${hex(unit.charCodeAt(0), 4)}`)

/** `</` would end the script of a page that the code is pasted into. */
export const toJavaScript = (text: string): string =>
  `'${text
    .replace(/[\\']/g, '\\$&')
    .replaceAll('</', '<\\/')
    .replaceAll('<!', '\\x3c!')
    .replace(invisible, toUnits)}'`

export const toPython = (text: string): string =>
  `"${text
    .replace(/[\\"]/g, '\\$&')
    .replace(invisible, (one) => `\\U${hex(one.codePointAt(0) as number, 8)}`)}"`

/** Octal, because a hexadecimal escape takes every digit that follows; `?` could begin a trigraph. */
export const toCpp = (text: string): string => {
  const escaped = Array.from(new TextEncoder().encode(text), (byte) => {
    const character = String.fromCharCode(byte)
    if (/[\\"?]/.test(character)) return `\\${character}`
    return byte >= 32 && byte < 127 ? character : `\\${byte.toString(8).padStart(3, '0')}`
  })
  return `"${escaped.join('')}"`
}

export const toCSharp = (text: string): string =>
  `"${text.replace(/[\\"]/g, '\\$&').replace(/[^ -~]/g, toUnits)}"`

/** Quoted for a shell, if it has to be. */
export const toShell = (text: string): string =>
  /^[\w:/.@%+=~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

// New usernames follow the UsernameCaseMapped profile of RFC 8265: parts of the IdentifierClass of RFC 8264, separated
// by single spaces. Section numbers below are those of RFC 8264, unless another RFC is named.

/** The form in which a new username is stored: without wide and narrow variants of letters, composed. */
export const prepareUsername = (name: string): string =>
  name.replace(/[\u3000\uff01-\uffee]/gu, (character) => character.normalize('NFKC')).normalize('NFC')

/** Why a prepared name cannot be a new username; undefined if it can. */
export function wrongUsername(name: string): string | undefined {
  const mapped = name.toLowerCase().normalize('NFC')
  if (mapped.normalize('NFKC') !== mapped) return characters
  const parts = mapped.split(' ')
  if (parts.includes('')) return 'Username can contain single spaces between its parts only'
  if (!parts.every((part) => allowed.test(part) && !disallowed.test(part) && hasContext(part)))
    return characters
  return hasOneDirection(mapped) ? undefined : 'Username mixes writing directions'
}

const characters = 'Username contains characters that are not allowed'

/** Sections 8 and 9: ASCII, letters and digits, and the exceptions of 9.6; context rules are checked separately. */
const allowed =
  /^(?:[\x21-\x7e\p{Ll}\p{Lu}\p{Lo}\p{Nd}\p{Lm}\p{Mn}\p{Mc}\u00b7\u0375\u05f3\u05f4\u06fd\u06fe\u0f0b\u3007\u30fb]|\u200c|\u200d)+$/u

/** Exceptions of 9.6, old Hangul letters, and invisible characters except the joiners. */
const disallowed =
  /[\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]|(?!\u200c|\u200d)\p{Default_Ignorable_Code_Point}/u

const viramas =
  '\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca\\u0e3a\\u0eba\\u0f84\\u1039\\u103a\\u17d2'

/** Where a character of the context rules (RFC 5892, appendix A) is not allowed. */
const outOfContext: readonly RegExp[] = [
  // A joiner that is not behind a virama would be invisible.
  new RegExp(`(?<![${viramas}])[\\u200c\\u200d]`, 'u'),
  /(?<!l)\u00b7|\u00b7(?!l)/u,
  /\u0375(?!\p{Script=Greek})/u,
  /(?<!\p{Script=Hebrew})[\u05f3\u05f4]/u,
  /^(?!.*[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]).*\u30fb/u,
  /^(?=.*[\u0660-\u0669]).*[\u06f0-\u06f9]/u,
]

const hasContext = (part: string): boolean => !outOfContext.some((rule) => rule.test(part))

// The Bidi Rule (RFC 5893, section 2) with the classes that allowed characters can have.
const rtl =
  '\\p{Script=Hebrew}\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Thaana}\\p{Script=Nko}\\p{Script=Samaritan}\\p{Script=Mandaic}\\p{Script=Adlam}\\p{Script=Hanifi_Rohingya}\\p{Script=Mende_Kikakui}\\u07c0-\\u085f\\u08a0-\\u08ff'
const rightToLeft = new RegExp(`(?!\\p{Mn})[${rtl}]`, 'u')
const rightToLeftOnly = new RegExp(
  `^(?=(?!\\p{Nd})[${rtl}])[${rtl}0-9 \\x21-\\x40\\x5b-\\x60\\x7b-\\x7e\\p{Mn}\\u200c\\u200d]*?(?:[${rtl}0-9])\\p{Mn}*$`,
  'u',
)
const mixedDigits = /^(?=.*[0-9\u06f0-\u06f9]).*[\u0660-\u0669]/u

const hasOneDirection = (name: string): boolean =>
  !rightToLeft.test(name) || (rightToLeftOnly.test(name) && !mixedDigits.test(name))

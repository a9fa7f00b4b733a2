const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const alphabet = `${letters}0123456789!@#$%^&*`
const length = 12

/** Larger bytes are discarded, because they would make the first characters more likely. */
const fair = 256 - (256 % alphabet.length)

export function generatePassword(): string {
  let password = ''
  const bytes = new Uint8Array(length * 2)
  while (password.length < length) {
    crypto.getRandomValues(bytes)
    for (const byte of bytes) {
      if (byte < fair && password.length < length) {
        password += alphabet[byte % alphabet.length]
      }
    }
  }
  return password
}

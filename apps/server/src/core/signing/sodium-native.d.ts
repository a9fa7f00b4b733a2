declare module 'sodium-native' {
  const sodium: {
    crypto_sign_BYTES: number
    crypto_sign_SEEDBYTES: number
    crypto_sign_SECRETKEYBYTES: number
    /** Writes the signature of `text`; `secretKey` is the seed and the public key. */
    crypto_sign_detached(signature: Buffer, text: Buffer, secretKey: Buffer): void
  }
  export default sodium
}

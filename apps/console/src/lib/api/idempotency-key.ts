/** A key that names one request, so that the server carries it out once however often it arrives. */
export function newIdempotencyKey(): string {
  // crypto.randomUUID is missing where the console is served without TLS.
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}

/** Reads a file once, part by part, for its digests in hex. Resolves to undefined once it is aborted. */
export async function digestFile(
  file: File,
  signal: AbortSignal,
  onProgress: (part: number) => void,
): Promise<{ sha512: string; sha256: string; sha1: string } | undefined> {
  const [{ sha512, sha256 }, { sha1 }, { bytesToHex }] = await Promise.all([
    import('@noble/hashes/sha2.js'),
    import('@noble/hashes/legacy.js'),
    import('@noble/hashes/utils.js'),
  ])
  const hashes = [sha512.create(), sha256.create(), sha1.create()] as const
  let read = 0
  const reader = file.stream().getReader()
  for (;;) {
    if (signal.aborted) {
      await reader.cancel()
      return undefined
    }
    const { done, value } = await reader.read()
    if (done) break
    for (const hash of hashes) hash.update(value)
    read += value.length
    onProgress(read / file.size)
  }
  const [long, usual, short] = hashes.map((hash) => bytesToHex(hash.digest()))
  return { sha512: long!, sha256: usual!, sha1: short! }
}

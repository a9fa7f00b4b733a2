/** Saves content as a file, as if the user had followed a download link. */
export function saveFile(name: string, content: BlobPart[], type: string) {
  const url = URL.createObjectURL(new Blob(content, { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

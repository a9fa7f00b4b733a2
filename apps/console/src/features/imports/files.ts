import { limits } from '@keyward/contract'
import { decodeFile } from '@keyward/contract/imported-files'
import { formatNumber } from '../../lib/format/numbers.ts'

export interface ChosenFile {
  name: string
  /** As UTF-8, whatever the encoding of the file was. */
  text: string
  size: number
}

/** The text of a file with a name that no other chosen file has, or why it cannot be imported. */
export async function readChosenFile(
  file: File,
  taken: readonly string[],
): Promise<ChosenFile | { error: string }> {
  if (file.size > limits.importFileBytesMax)
    return { error: `${file.name} is larger than ${formatNumber(limits.importFileBytesMax / 1_048_576)} MB.` }
  if (file.size === 0) return { error: `${file.name} is empty.` }
  const decoded = decodeFile(new Uint8Array(await file.arrayBuffer()))
  if ('problem' in decoded) return { error: `${file.name}: ${decoded.problem}` }
  return { name: nameOf(file.name, taken), text: decoded.text, size: file.size }
}

/** A name that the server takes. */
function nameOf(name: string, taken: readonly string[]): string {
  const allowed = name
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}_ .()-]/gu, '_')
    .replace(/^[^\p{L}\p{N}_]+/u, '')
    .slice(-90)
  const base = /^[\p{L}\p{N}_]/u.test(allowed) ? allowed : `_${allowed}`
  let unique = base
  for (let copy = 2; taken.includes(unique); copy += 1) unique = `${base} (${copy})`
  return unique
}

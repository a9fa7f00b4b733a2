import type { ImportPreset } from '@keyward/contract'
import { limits } from '@keyward/contract/constants'
import { type ReadInput, type ReadOutput, UnreadableFiles } from '../rows.ts'
import { Collector } from './collector.ts'
import { joinKeyAuth } from './keyauth.ts'
import { addKeyAuthFile, noEntries } from './keyauth-files.ts'
import { addKeygenFile, joinKeygen, noPages } from './keygen.ts'
import { openKeywardList } from './keyward.ts'
import { addProductFile, isProduct, productOf } from './products.ts'
import { readTables } from './table.ts'

const names: Record<ImportPreset, string> = {
  keyward: 'Keyward',
  keyauth: 'KeyAuth',
  keygen: 'Keygen',
  cryptlex: 'Cryptlex',
  lukittu: 'Lukittu',
  licensegate: 'LicenseGate',
  licensespring: 'LicenseSpring',
  table: 'another list',
}

/**
 * Reads the files of one import as rows. Rubbish in a row is a problem of that row; only files that hold nothing of the
 * preset throw, as UnreadableFiles, which names the preset that fits.
 */
export function readFiles({ preset, mapping, files, answers }: ReadInput, now = Date.now()): ReadOutput {
  const wrong = files.find(({ content }) => /\0.?\0|\ufffd\0/.test(content.slice(0, 256)))
  if (wrong) throw new UnreadableFiles(`${wrong.name} is not UTF-8. Save it as UTF-8 first.`)
  const to = new Collector(answers)
  const rowsMax = limits.importedRowsMax
  if (preset === 'keyward') {
    for (const { name, content } of files)
      for (const row of openKeywardList(name, content).rows) if (!to.overflowed) to.add(row)
  } else if (preset === 'keyauth') {
    const entries = noEntries()
    for (const { name, content } of files)
      if (!addKeyAuthFile(entries, name, content, rowsMax)) throw unfit(preset, name, content)
    joinKeyAuth(entries, to, now)
  } else if (preset === 'keygen') {
    const pages = noPages()
    for (const { name, content } of files)
      if (!addKeygenFile(pages, name, content, rowsMax)) throw unfit(preset, name, content)
    joinKeygen(pages, to)
  } else if (isProduct(preset) && Object.keys(mapping).length === 0) {
    for (const { name, content } of files) {
      if (productOf(content) !== preset) throw unfit(preset, name, content)
      addProductFile(preset, name, content, to)
    }
  } else readTables(files, mapping, to)
  const output = to.result()
  if (output.rows.length === 0) throw new UnreadableFiles('The files hold no licenses and no end users')
  if (to.overflowed) throw new UnreadableFiles(`The files have more than ${rowsMax} rows. Please split them.`)
  return output
}

function unfit(preset: ImportPreset, name: string, content: string): UnreadableFiles {
  const fits = fittingPreset(content)
  if (fits === preset) return new UnreadableFiles(`${name} holds nothing that an import takes`)
  return new UnreadableFiles(`${name} is not a file of ${names[preset]}. It looks like ${names[fits]}.`)
}

/** The preset that recognizes the start of a file. */
function fittingPreset(content: string): ImportPreset {
  const start = content.slice(0, 1_000_000)
  if (addKeyAuthFile(noEntries(), '', start, 100)) return 'keyauth'
  if (addKeygenFile(noPages(), '', start, 100)) return 'keygen'
  return productOf(start) ?? 'table'
}

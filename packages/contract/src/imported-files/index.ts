/** Reads files of other systems, in the server and for the preview in the console. No function throws. */
export { type CsvLine, csvDelimiters, readCsvTable } from './csv-table.ts'
export { decodeFile } from './decode.ts'
export { toFlag } from './flags.ts'
export { type JsonElement, own, readJsonLists, restOfDocument } from './json-lists.ts'
export { suggestMapping } from './suggested-mapping.ts'
export { openTable, type Table, type TableRow } from './table.ts'

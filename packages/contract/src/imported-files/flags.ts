/** How spreadsheets of other languages write a flag, and people do. */
const yes = [
  'true',
  '1',
  'yes',
  'wahr',
  'ja',
  'vrai',
  'oui',
  'verdadero',
  'sí',
  'si',
  'vero',
  'sì',
  'verdadeiro',
  'sim',
  'waar',
  'prawda',
]
const no = ['false', '0', 'no', 'falsch', 'nein', 'faux', 'non', 'falso', 'não', 'onwaar', 'nee', 'fałsz']
const flags = new Map([
  ...yes.map((word) => [word, true] as const),
  ...no.map((word) => [word, false] as const),
])

/** A flag of a cell; undefined if it is none. */
export const toFlag = (cell: string): boolean | undefined => flags.get(cell.trim().toLowerCase())

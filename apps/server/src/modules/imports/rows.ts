import type { ImportMapping, ImportPreset, ImportQuestionName, TermsColumn } from '@keyward/contract'

/** Where a row was read: the line of a file, or the number of the entry in its list, from 1. */
export interface Origin {
  file: string
  line: number
}

/** When access ends: at a time in milliseconds since 1970, after so many seconds from the first use, or never. */
export type ImportedEnd = { at: number } | { seconds: number } | 'never'

/** What a license is sold with, in the words of an export. */
export type Cells = Partial<Record<TermsColumn | 'expiresAt' | 'banned' | 'banReason', string>>

/** A license or an end user of another system. A reader leaves out what its files do not tell. */
interface Imported extends Origin {
  /** Why it cannot be imported; it is reported, and nothing else of it is used. */
  problem?: string
  /** The owner or a reader decided that it is left out; reported with this reason. */
  skip?: string
  /** What could not be taken along, for the report. */
  hint?: string
}

export interface ImportedLicense extends Imported {
  kind: 'license'
  key: string
  /** The name of a license type of the app, found without regard to case; otherwise defaults apply. */
  type?: string
  /** `paused` needs an end user in `usedBy`. */
  status: 'unused' | 'used' | 'banned' | 'paused'
  banReason?: string
  /** Forever unless it says otherwise. Of a used license its end, if the end user's row has none. */
  end?: ImportedEnd
  note?: string
  /** The username of the end user who has it, found without regard to case. */
  usedBy?: string
  /** How many devices it allows; -1 for any number. */
  devicesMax?: number
  /** Hardware ids bound to it, trimmed. */
  devices?: string[]
  /** The id or the order in the other system; appended to the note. */
  reference?: string
  /** The cells of a list of Keyward say what it is sold with. Then an empty key is generated. */
  cells?: Cells
}

export interface ImportedUser extends Imported {
  kind: 'user'
  username: string
  /** A bcrypt hash, `$2a$`, `$2b$` or `$2y$`. Without one the owner must set a password, unless a key is the name. */
  passwordHash?: string
  email?: string
  /** SHA-1 of the address in lower case, 40 hex digits. */
  emailSha1?: string
  /** Hardware ids, trimmed, where it is certain what they are. */
  devices?: string[]
  /** Several hardware ids in one text that could not be split: one that begins or ends it is accepted. */
  gluedDevices?: string
  /** Set if banned; the reason may be empty. */
  banReason?: string
  /** Forever unless it says otherwise; `seconds` count from the import. */
  end?: ImportedEnd
  /** Seconds left of a paused end user; then `end` is not used. */
  pausedSeconds?: number
  /** Keys it has; the first one is its own license. Keys that name it in `usedBy` are added to them. */
  keys?: string[]
  type?: string
  note?: string
}

export type ImportedRow = ImportedLicense | ImportedUser

/** Something that the files do not tell, for the owner to decide. */
export interface Question {
  name: ImportQuestionName
  text: string
  /** How many rows it concerns. */
  rows: number
  choices: { value: string; text: string }[]
}

export interface ReadInput {
  preset: ImportPreset
  mapping: ImportMapping
  files: { name: string; content: string }[]
  /** Answers of earlier questions by their names. */
  answers: Record<string, string>
}

export interface ReadOutput {
  /** In the order of creation; licenses and end users in any order. At most `limits.importedRowsMax`. */
  rows: ImportedRow[]
  /** All questions, answered ones too. Rows of an unanswered one are judged by its first choice. */
  questions: Question[]
}

/** Files that cannot be read at all: the import fails with the message. */
export class UnreadableFiles extends Error {}

import { limits } from '@keyward/contract/constants'
import { toFolded } from '../../../core/ids.ts'
import type { ImportedLicense, ImportedRow, ImportedUser, Origin, Question, ReadOutput } from '../rows.ts'
import { isStorable } from './values.ts'

const [nameMax, keyMax, noteMax] = [70, 100, 200]

/** Collects rows and questions, and compares the names of all rows. */
export class Collector {
  readonly #rows: ImportedRow[] = []
  readonly #questions = new Map<string, Question>()
  readonly #answers: Record<string, string>
  readonly #taken = { license: new Map<string, Seen>(), user: new Map<string, Seen>() }

  constructor(answers: Record<string, string>) {
    this.#answers = answers
  }

  /** The files have more rows than an import takes; nothing more is kept. */
  overflowed = false

  /** Counts a row for a question and returns its answer, the first choice until there is one. */
  ask<Name extends keyof typeof questions>(name: Name): keyof (typeof questions)[Name]['choices'] & string {
    const { text, choices } = questions[name]
    const values = Object.keys(choices)
    const known = this.#questions.get(name)
    if (known) known.rows += 1
    else
      this.#questions.set(name, {
        name,
        text,
        rows: 1,
        choices: Object.entries(choices).map(([value, choice]) => ({ value, text: choice })),
      })
    const answer = Object.hasOwn(this.#answers, name) ? this.#answers[name] : undefined
    return (values.find((value) => value === answer) ?? values[0]) as never
  }

  /** Keeps a row as it is. */
  add(row: ImportedRow): void {
    if (this.#rows.length < limits.importedRowsMax) this.#rows.push(row)
    else this.overflowed = true
  }

  addLicense(row: ImportedLicense): void {
    const key = row.key.slice(0, keyMax)
    const problem = row.problem ?? textProblem(row.key, 'key', keyMax)
    this.add(
      problem === undefined
        ? { ...row, ...noteOf(row), ...this.#compare('license', row, row.key) }
        : { kind: 'license', file: row.file, line: row.line, key: toShown(key), status: 'unused', problem },
    )
  }

  addUser(row: ImportedUser): void {
    const problem = row.problem ?? textProblem(row.username, 'username', nameMax)
    this.add(
      problem === undefined
        ? { ...row, ...noteOf(row), ...this.#compare('user', row, row.username) }
        : {
            kind: 'user',
            file: row.file,
            line: row.line,
            username: toShown(row.username.slice(0, nameMax)),
            problem,
          },
    )
  }

  /** An entry that names nothing. */
  addProblem({ file, line }: Origin, problem: string): void {
    this.add({ kind: 'license', file, line, key: '', status: 'unused', problem })
  }

  result(): ReadOutput {
    return { rows: this.#rows, questions: [...this.#questions.values()] }
  }

  #compare(kind: 'license' | 'user', { file, line }: Origin, name: string) {
    const folded = toFolded(name)
    const seen = this.#taken[kind].get(folded)
    if (!seen) {
      this.#taken[kind].set(folded, { name, file, line })
      return {}
    }
    const place = `in ${seen.file}, ${seen.line}`
    if (seen.name === name) return { skip: `The same ${kind === 'user' ? 'username' : 'key'} is ${place}` }
    return { problem: `${seen.name} ${place} differs only by case or accents` }
  }
}

interface Seen extends Origin {
  name: string
}

const toShown = (text: string) => text.toWellFormed().replace(/\p{Cc}/gu, ' ')

function textProblem(text: string, what: 'key' | 'username', max: number): string | undefined {
  if (text === '') return `The ${what} is missing`
  if (text.length > max) return `The ${what} has more than ${max} characters`
  return isStorable(text) ? undefined : `The ${what} has characters that cannot be stored`
}

/** A note loses what cannot be stored, because it is no reason to refuse the row. */
const noteOf = ({ note }: { note?: string }) =>
  note === undefined
    ? {}
    : { note: toShown(note).replaceAll('\ufffd', '?').trim().slice(0, noteMax).toWellFormed() }

/** Everything that a file can leave open. Its first choice changes least. */
const questions = {
  keysWithoutStatus: {
    text: 'The files do not say whether these keys are used or banned. What should happen to them?',
    choices: { skip: 'Leave them out', unused: 'Import them as unused keys' },
  },
  usersWithoutEnd: {
    text: 'The files do not say how long these end users may go on. What should happen to them?',
    choices: { ended: 'Import them without time', never: 'They never expire' },
  },
  emptyEnds: {
    text: 'These rows have no end. What should happen to them?',
    choices: { skip: 'Leave them out', never: 'They never expire' },
  },
  longEnds: {
    text: 'These end users expire in more than five years. The old system writes a lifetime like this.',
    choices: { keep: 'Keep their dates', never: 'They never expire' },
  },
  dateOrder: {
    text: 'Which part is first in dates such as 03/04/2027?',
    choices: { day: 'The day', month: 'The month' },
  },
  unknownStatus: {
    text: 'The status of these rows has an unknown word. What should happen to them?',
    choices: { skip: 'Leave them out', unused: 'Import them as unused', banned: 'Import them as banned' },
  },
  people: {
    text: 'These licenses belong to people, whose passwords are not in the files. How should they be kept?',
    choices: {
      note: 'The address in the note of the license',
      users: 'End users, for whom you set passwords',
    },
  },
} as const

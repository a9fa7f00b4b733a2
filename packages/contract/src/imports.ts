import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { appFilter, appRef, exportTypes, id, idParams, isoTime, pageQuery, pagination } from './shared.ts'

/** What wrote the files of an import. */
export const importPresets = [
  'keyward',
  'keyauth',
  'keygen',
  'cryptlex',
  'lukittu',
  'licensegate',
  'licensespring',
  'table',
] as const
export const importPreset = z.enum(importPresets)

/** What a column of a file can be mapped to. */
export const importFields = [
  'key',
  'type',
  'status',
  'banReason',
  'duration',
  'endsAt',
  'note',
  'usedBy',
  'devicesMax',
  'device',
  'reference',
  'username',
  'password',
  'email',
] as const
export const importField = z.enum(importFields)

export const importStates = [
  'waiting',
  'checking',
  'checked',
  'running',
  'done',
  'failed',
  'undoing',
  'undone',
] as const

const column = z.string().trim().min(1).max(100)

/** Which column of the files has which field. */
export const importMapping = z.partialRecord(importField, column)

export const importFileName = z
  .string()
  .max(100, 'A file name can have at most 100 characters')
  .regex(/^[\p{L}\p{N}_][\p{L}\p{N}_ .()-]*$/u, 'A file name has letters, digits, spaces and _ . ( ) - only')

/** What files may leave open. */
export const importQuestions = [
  'keysWithoutStatus',
  'unknownStatus',
  'usersWithoutEnd',
  'longEnds',
  'emptyEnds',
  'dateOrder',
  'people',
] as const
const questionName = z.enum(importQuestions)

/** Something that the files do not tell. */
const importQuestion = z.strictObject({
  name: questionName.describe('names the question in `answers`'),
  text: z.string(),
  rows: z.int().describe('how many rows it concerns'),
  choices: z.array(z.strictObject({ value: z.string(), text: z.string() })),
  answer: z.string().nullable(),
})

const importFile = z.strictObject({ name: z.string(), bytes: z.int() })

export const importOutcomes = ['created', 'skipped', 'failed', 'undone', 'kept'] as const

const importRow = z.strictObject({
  row: z.int(),
  file: z.string(),
  line: z.int().describe('of the file, or the number of the entry in its list, from 1'),
  kind: z.enum(['license', 'client']),
  name: z.string().describe('the key or the username'),
  outcome: z.enum(importOutcomes).describe('after a dry run what would happen'),
  message: z.string().nullable().describe('why it was skipped, or what could not be taken along'),
  licenseId: z.string().nullable(),
  clientId: z.string().nullable(),
})

const importFacts = z.strictObject({
  _id: z.string(),
  app: appRef,
  preset: importPreset,
  mapping: importMapping,
  state: z.enum(importStates),
  dryRun: z.boolean().describe('whether the counts are those of a dry run'),
  files: z.array(importFile).describe('empty once they are deleted: after the run, or after a day'),
  rows: z.int(),
  done: z.int().describe('rows that the current run has finished'),
  created: z.int().describe('rows that became a license, an end user or both, or would'),
  licenses: z.int().describe('licenses created'),
  clients: z.int().describe('end users created'),
  skipped: z.int(),
  failed: z.int(),
  kept: z.int().describe('rows that `undo` kept because they were used since'),
  questions: z.array(importQuestion),
  problem: z.string().nullable().describe('why the import failed'),
  createdAt: isoTime,
  finishedAt: isoTime.nullable(),
})

const tag = 'Imports'
const data = z.strictObject({ import: importFacts })

export const imports = {
  create: endpoint({
    method: 'POST',
    path: '/imports',
    access: 'owner',
    permission: ['licenses:write', 'clients:write'],
    tag,
    summary:
      'Start an import of a list of licenses, or of licenses and end users from another system, with its files or before they are uploaded',
    body: z.strictObject({
      app: id,
      preset: importPreset,
      mapping: importMapping.optional(),
      files: z
        .array(z.strictObject({ name: importFileName, content: z.string().max(limits.importInlineBytesMax) }))
        .max(limits.importFilesMax)
        .refine(
          (files) => new Set(files.map((file) => file.name)).size === files.length,
          'Each file needs a name of its own',
        )
        .optional(),
    }),
    bodyLimit: limits.importInlineBytesMax,
    data,
    status: 201,
    errors: ['imports_full', 'import_files_full'],
  }),
  putFile: endpoint({
    method: 'PUT',
    path: '/imports/:id/files/:name',
    access: 'owner',
    permission: ['licenses:write', 'clients:write'],
    tag,
    summary: `Upload or replace a file of an import that has not run, at most ${limits.importFileBytesMax} bytes`,
    params: z.object({ id, name: importFileName }),
    raw: true,
    streamed: true,
    job: true,
    bodyLimit: limits.importFileBytesMax,
    data,
    errors: ['import_not_waiting', 'import_files_full'],
  }),
  run: endpoint({
    method: 'POST',
    path: '/imports/:id/run',
    access: 'owner',
    permission: ['licenses:write', 'clients:write'],
    dryRun: true,
    tag,
    summary:
      'Run an import, or try it without changing anything; it runs on after the answer. A real run needs an answer to each question',
    params: idParams,
    body: z.strictObject({
      dryRun: z.boolean(),
      answers: z.partialRecord(questionName, z.string().max(40)).optional(),
    }),
    data,
    errors: ['import_not_waiting', 'import_unanswered', 'import_without_files'],
  }),
  get: endpoint({
    method: 'GET',
    path: '/imports/:id',
    access: 'owner',
    permission: ['licenses:write', 'clients:write'],
    tag,
    summary: 'An import, and the report of its rows',
    params: idParams,
    query: pageQuery.extend({ outcome: z.enum(importOutcomes).optional() }),
    data: z.strictObject({
      import: importFacts,
      rows: z.array(importRow).max(limits.pageSizeMax),
      pagination,
    }),
  }),
  report: endpoint({
    method: 'GET',
    path: '/imports/:id/report',
    access: 'owner',
    permission: ['licenses:write', 'clients:write'],
    tag,
    summary: 'The report of all rows as a CSV file',
    params: idParams,
    job: true,
    data: z.strictObject({}),
    file: [exportTypes[0]],
  }),
  list: endpoint({
    method: 'GET',
    path: '/imports',
    access: 'owner',
    permission: ['licenses:write', 'clients:write'],
    tag,
    summary: `Imports, newest first, at most ${limits.importsMax}`,
    query: z.object({ app: appFilter }),
    data: z.strictObject({ imports: z.array(importFacts).max(limits.importsMax) }),
  }),
  undo: endpoint({
    method: 'POST',
    path: '/imports/:id/undo',
    access: 'owner',
    permission: ['licenses:write', 'clients:write'],
    tag,
    summary:
      'Delete what an import created, in the background; licenses and end users that were used since stay and are counted',
    params: idParams,
    data,
    errors: ['import_not_done'],
  }),
}

export type Import = z.output<typeof importFacts>
export type ImportState = (typeof importStates)[number]
export type ImportPreset = z.output<typeof importPreset>
export type ImportField = z.output<typeof importField>
export type ImportMapping = z.output<typeof importMapping>
export type ImportQuestion = z.output<typeof importQuestion>
export type ImportQuestionName = z.output<typeof questionName>
export type ImportReportRow = z.output<typeof importRow>
export type ImportOutcome = (typeof importOutcomes)[number]

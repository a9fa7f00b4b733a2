import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { idParams } from './shared.ts'

/** Names that every JavaScript object already has would mislead programs. */
const isReserved = (name: string): boolean => name in {}

const name = z
  .string()
  .trim()
  .max(64, 'A name has at most 64 characters')
  .regex(
    /^[A-Za-z][A-Za-z0-9_. -]*$/,
    'A name starts with a letter and has letters, digits, spaces and . _ -',
  )
  .refine((text) => !isReserved(text), 'This name is reserved')

/** Text of several lines; no other control characters, no lone surrogates. */
const value = z
  .string()
  .max(limits.variablesBytesMax, 'The value is too long')
  .refine(
    (text) => !/(?![\n\r\t])\p{Cc}|\p{Cs}/u.test(text),
    'The value contains characters that are not allowed',
  )

export const variableBytes = (variable: { name: string; value: string }): number =>
  new TextEncoder().encode(variable.name + variable.value).length

/** A complete list: each name once, at most 64 KiB of names and values together. */
const listOf = <T extends z.ZodType<{ name: string; value: string }>>(variable: T) =>
  z
    .array(variable)
    .max(limits.variablesMax, `At most ${limits.variablesMax} variables`)
    .superRefine((list, context) => {
      const seen = new Set<string>()
      list.forEach((one, at) => {
        if (seen.has(one.name))
          context.addIssue({ code: 'custom', path: [at, 'name'], message: 'Each name can be used once' })
        seen.add(one.name)
      })
      if (list.reduce((sum, one) => sum + variableBytes(one), 0) > limits.variablesBytesMax)
        context.addIssue({ code: 'custom', message: 'Names and values can have at most 64 KiB together' })
    })

export const clientVariable = z.strictObject({
  name,
  value,
  program: z
    .boolean()
    .optional()
    .describe(
      'written by a program with `setvar`, which may change it, and no part of the signed `variables`; false makes it yours',
    ),
})
/** A complete list of an end user. */
export const clientVariables = listOf(clientVariable)
export const appVariable = z.strictObject({
  name,
  value,
  public: z.boolean().describe('sent by `init`, before anyone signs in'),
  offline: z
    .boolean()
    .optional()
    .describe('part of every lease, so that programs have it offline; customers can read it on their disk'),
})

const appList = listOf(appVariable).superRefine((list, context) => {
  const bytes = list.filter(({ offline }) => offline).reduce((sum, one) => sum + variableBytes(one), 0)
  if (bytes > limits.offlineVariablesBytesMax)
    context.addIssue({ code: 'custom', message: 'Variables for offline use can have at most 8 KiB together' })
})

/** A list with its revision, which changes with every change of the list; null for an empty list. */
const revised = <T extends z.ZodType>(variable: T) =>
  z.strictObject({ variables: z.array(variable), revision: z.string().nullable() })

const seen = z
  .string()
  .max(100)
  .nullable()
  .optional()
  .describe('the revision that the caller saw; nothing is saved if the list has changed, unless to this one')

const tag = 'Variables'
/** 64 KiB of text can take three times as many bytes as JSON. */
const bodyLimit = 262_144

export const variables = {
  app: endpoint({
    method: 'GET',
    path: '/apps/:id/variables',
    access: 'owner',
    permission: 'secrets:read',
    tag,
    summary: 'Get the variables that the programs of an app receive',
    params: idParams,
    data: revised(appVariable),
  }),
  setApp: endpoint({
    method: 'PUT',
    path: '/apps/:id/variables',
    access: 'owner',
    permission: 'secrets:write',
    tag,
    summary:
      'Replace the variables of an app, at most 64 KiB together; programs receive them with their next call',
    params: idParams,
    body: z.strictObject({ variables: appList, seen }),
    bodyLimit,
    valuesMax: 1100,
    data: revised(appVariable),
    errors: ['variables_changed'],
  }),
  client: endpoint({
    method: 'GET',
    path: '/clients/:id/variables',
    access: 'owner',
    permission: 'clients:read',
    tag,
    summary: "Get an end user's own variables, and those that its programs wrote",
    params: idParams,
    data: revised(clientVariable),
  }),
  setClient: endpoint({
    method: 'PUT',
    path: '/clients/:id/variables',
    access: 'owner',
    permission: 'clients:write',
    tag,
    summary: "Replace an end user's own variables, at most 64 KiB together; they override the app's",
    params: idParams,
    body: z.strictObject({ variables: clientVariables, seen }),
    bodyLimit,
    data: revised(clientVariable),
    errors: ['variables_changed'],
  }),
}

export type AppVariable = z.output<typeof appVariable>
export type ClientVariable = z.output<typeof clientVariable>

import type { Endpoint } from '@keyward/contract'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Issue, problem } from '../core/problem.ts'

// A call without a body takes an empty one; a field in it would be ignored without a word.
const noBody = z.strictObject({})

/** More than anything the API takes; schemas look at every value that they are given, wrong ones too. */
const mostValues = 1000
/** Deeper than anything the API takes; what walks through a value must not run out of stack. */
const deepest = 20
const tooMany: Issue = { path: '', message: `There are more than ${mostValues} values` }
const mostIssues = 10
const mostUnknownFields = 10
const longestName = 100

/** Parses params, query and body at once, so that all mistakes are reported together. */
export function parseInput(endpoint: Endpoint, request: FastifyRequest) {
  const issues: Issue[] = []
  const parse = (schema: z.ZodType | undefined, value: unknown) => {
    if (!schema) return undefined
    const fault = findFault(value, { allowNul: endpoint.signed === true })
    if (fault) {
      issues.push(fault)
      return undefined
    }
    const result = schema.safeParse(value)
    if (result.success) return result.data
    issues.push(...result.error.issues.slice(0, mostIssues).map(toIssue))
    return undefined
  }
  const input = {
    params: parse(endpoint.params, request.params),
    query: parse(endpoint.query, request.query),
    body: parse(endpoint.body ?? noBody, request.body ?? {}),
  }
  if (issues.length > 0) {
    throw problem('invalid_input', { message: issues[0]?.message, issues: issues.slice(0, mostIssues) })
  }
  return input
}

/** What keeps a value from being parsed at all; it ends after `mostValues`, whatever was sent. */
export function findFault(value: unknown, { allowNul }: { allowNul: boolean }): Issue | undefined {
  let seen = 0
  const walk = (part: unknown, path: string, depth: number): Issue | undefined => {
    seen += 1
    if (seen > mostValues) return tooMany
    // PostgreSQL cannot store a NUL, and SQLite's search cannot read one.
    if (typeof part === 'string')
      return allowNul || !part.includes('\u0000')
        ? undefined
        : { path, message: 'A NUL character cannot be used' }
    if (typeof part !== 'object' || part === null) return undefined
    if (depth === deepest) return { path: '', message: 'Nested too deeply' }
    // A list that is too long is refused here: even its indexes as names would be costly to make.
    if (Array.isArray(part) && part.length > mostValues) return tooMany
    for (const name in part) {
      const inner = (part as Record<string, unknown>)[name]
      const fault = walk(inner, path === '' ? name : `${path}.${name}`, depth + 1)
      if (fault) return { ...fault, path: shorten(fault.path) }
    }
    return undefined
  }
  return walk(value, '', 0)
}

function toIssue(issue: z.core.$ZodIssue): Issue {
  const at = issue.path.map(String)
  if (issue.code !== 'unrecognized_keys') return { path: shorten(at.join('.')), message: issue.message }
  const names = issue.keys.slice(0, mostUnknownFields).map(shorten)
  const rest = issue.keys.length - names.length
  const more = rest > 0 ? ` and ${rest} more` : ''
  return {
    path: shorten([...at, names[0] ?? ''].join('.')),
    message: `Unknown field: ${names.join(', ')}${more}`,
  }
}

const shorten = (name: string): string =>
  name.length > longestName ? `${name.slice(0, longestName)}…` : name

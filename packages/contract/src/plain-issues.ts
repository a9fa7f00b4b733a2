import type { z } from 'zod'

const types: Record<string, string> = {
  string: 'Must be text',
  number: 'Must be a number',
  int: 'Must be a whole number',
  boolean: 'Must be true or false',
  array: 'Must be a list',
  object: 'Must be an object',
  record: 'Must be an object',
}

/** Messages of values that a schema has no message for, as people say them. */
export const plainIssue: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') {
    return issue.input === undefined ? 'Is required' : types[issue.expected]
  }
  if (issue.code === 'invalid_value') {
    return `Must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`
  }
  if (issue.code === 'invalid_union') return 'Is not one of the values that are accepted'
  if (issue.code === 'too_big') return bound('at most', issue.maximum, issue.origin)
  if (issue.code !== 'too_small') return undefined
  return issue.minimum === 1 && issue.origin === 'string' && issue.inclusive
    ? 'Must not be empty'
    : bound('at least', issue.minimum, issue.origin)
}

function bound(limit: string, value: number | bigint, origin: string): string {
  if (origin === 'string') return `Must have ${limit} ${value} characters`
  if (origin === 'array') return `Must have ${limit} ${value} ${value === 1 ? 'entry' : 'entries'}`
  return `Must be ${limit} ${value}`
}

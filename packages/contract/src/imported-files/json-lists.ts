/** Bounds of one record of a JSON list; what is longer or deeper is reported and not parsed. */
export const jsonBounds = { depth: 16, record: 1_048_576 } as const

/** An element of a list of a document. `list` is the name of the list, and empty if the document is the list itself. */
export interface JsonElement {
  document: number
  list: string
  /** Its place in the list, counted from 1. */
  place: number
  value: unknown
  problem: string | undefined
  /** Names of the lists of the document that have no elements, with the rest of it; 200 at most. */
  emptyLists?: readonly string[]
}

/** The members of a document that are no lists come last, as one element of this list. */
export const restOfDocument = '$'

const space = /[\s\uFEFF,]*/y
const quote = 34
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125]

/**
 * Reads the lists of JSON documents, one behind another, element by element, so that neither a deep nor a long document fills
 * the memory: `JSON.parse` sees only elements within the bounds. Never throws.
 */
export function* readJsonLists(text: string): Generator<JsonElement> {
  let at = afterSpace(text, 0)
  for (let document = 1; at < text.length; document += 1) {
    const opening = text.charCodeAt(at)
    if (opening === openList) at = yield* readList(text, at, document, '')
    else if (opening === openObject) at = yield* readObject(text, at, document)
    else {
      yield fault(document, '', 1, 'The file is not JSON')
      return
    }
    at = afterSpace(text, at)
  }
}

function* readList(
  text: string,
  start: number,
  document: number,
  list: string,
): Generator<JsonElement, number> {
  let at = afterSpace(text, start + 1)
  for (let place = 1; text.charCodeAt(at) !== closeList; place += 1) {
    const { end, deepest } = endOfValue(text, at)
    if (end === undefined || end === at) {
      yield fault(document, list, place, 'The file ends inside of a value or is no JSON here')
      return text.length
    }
    yield* toElements(text, { at, end, deepest }, { document, list, place })
    at = afterSpace(text, end)
  }
  return at + 1
}

function* readObject(text: string, start: number, document: number): Generator<JsonElement, number> {
  const rest = new Map<string, unknown>()
  const emptyLists: string[] = []
  let at = afterSpace(text, start + 1)
  while (text.charCodeAt(at) !== closeObject) {
    const nameEnd = text.charCodeAt(at) === quote ? endOfString(text, at) : undefined
    const colon = nameEnd === undefined ? -1 : afterSpace(text, nameEnd)
    if (nameEnd === undefined || text[colon] !== ':') {
      yield fault(document, '', 1, 'The file ends inside of an object or is no JSON here')
      return text.length
    }
    const name = String(parse(text.slice(at, Math.min(nameEnd, at + 200))) ?? '')
    at = afterSpace(text, colon + 1)
    if (text.charCodeAt(at) === openList) {
      if (text.charCodeAt(afterSpace(text, at + 1)) === closeList && emptyLists.length < 200)
        emptyLists.push(name)
      at = yield* readList(text, at, document, name)
    } else {
      const { end, deepest } = endOfValue(text, at)
      if (end === undefined || end === at) {
        yield fault(document, name, 1, 'The file ends inside of a value or is no JSON here')
        return text.length
      }
      if (end - at <= 10_000 && deepest <= jsonBounds.depth && rest.size < 200)
        rest.set(name, parse(text.slice(at, end)))
      at = end
    }
    at = afterSpace(text, at)
  }
  const value: unknown = Object.fromEntries(rest)
  yield {
    document,
    list: restOfDocument,
    place: 1,
    value,
    problem: undefined,
    ...(emptyLists.length > 0 && { emptyLists }),
  }
  return at + 1
}

interface Extent {
  at: number
  end: number
  deepest: number
}

function* toElements(
  text: string,
  { at, end, deepest }: Extent,
  { document, list, place }: { document: number; list: string; place: number },
): Generator<JsonElement> {
  if (end - at > jsonBounds.record) return yield fault(document, list, place, 'The record is too long')
  if (deepest > jsonBounds.depth) return yield fault(document, list, place, 'The record is nested too deeply')
  const value = parse(text.slice(at, end))
  if (value === undefined) return yield fault(document, list, place, 'The record is not JSON')
  const page: unknown = list === '' ? own(value, 'data') : undefined
  if (!Array.isArray(page)) return yield { document, list, place, value, problem: undefined }
  // A list of pages: each has a list of its own.
  for (const [index, item] of page.entries())
    yield { document, list: 'data', place: index + 1, value: item, problem: undefined }
}

const fault = (document: number, list: string, place: number, problem: string): JsonElement => ({
  document,
  list,
  place,
  value: undefined,
  problem,
})

function afterSpace(text: string, at: number): number {
  space.lastIndex = at
  space.test(text)
  return space.lastIndex
}

/** Where the value ends, without looking into it, and how deep it is; `end` is undefined if the text ends first. */
function endOfValue(text: string, start: number): { end: number | undefined; deepest: number } {
  let [depth, deepest] = [0, 0]
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = endOfString(text, at)
      if (end === undefined) break
      if (depth === 0) return { end, deepest }
      at = end - 1
    } else if (code === openList || code === openObject) {
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (code === closeList || code === closeObject) {
      // The bracket of a list that the value stands in.
      if (depth === 0) return { end: at, deepest }
      depth -= 1
      if (depth === 0) return { end: at + 1, deepest }
    } else if (depth === 0 && (code === 44 || code <= 32)) return { end: at, deepest }
  }
  return { end: depth === 0 && start < text.length ? text.length : undefined, deepest }
}

function endOfString(text: string, start: number): number | undefined {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (text[before] === '\\') before -= 1
    if ((at - before) % 2 === 1) return at + 1
  }
  return undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** A member of the value itself: names such as `__proto__` and `constructor` find nothing that JavaScript brings along. */
export const own = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

import { linkIssue } from '@keyward/contract'
import { marked, type Token } from 'marked'
import { Fragment, type ReactNode } from 'react'

/** Deeper than anybody writes. */
const depthMax = 8

/** Markdown as elements. HTML in it is shown as the text that it is. */
export function ReleaseNotes({ notes }: { notes: string }) {
  return <div className="wrap-anywhere grid min-w-0 gap-2">{toElements(notes)}</div>
}

function toElements(notes: string): ReactNode {
  try {
    return render(marked.lexer(notes), 0)
  } catch {
    // Markdown that is nested too deep for the reader.
    return <p className="whitespace-pre-wrap">{notes}</p>
  }
}

const render = (tokens: readonly Token[], depth: number): ReactNode =>
  // A part has no other name than its place.
  // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes
  tokens.map((token, at) => <Fragment key={at}>{toElement(token, depth + 1)}</Fragment>)

function toElement(token: Token, depth: number): ReactNode {
  if (depth > depthMax) return token.raw
  const inner = () => ('tokens' in token && token.tokens ? render(token.tokens, depth) : textOf(token))
  switch (token.type) {
    case 'space':
      return null
    case 'heading':
      return <p className="font-semibold">{inner()}</p>
    case 'paragraph':
      return <p>{inner()}</p>
    case 'blockquote':
      return <blockquote className="grid gap-2 border-l-2 pl-3 text-fg-muted">{inner()}</blockquote>
    case 'list': {
      const List = token.ordered ? 'ol' : 'ul'
      return (
        <List className={`grid gap-1 pl-5 ${token.ordered ? 'list-decimal' : 'list-disc'}`}>
          {(token.items as Token[]).map((item, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes
            <li key={at}>{toElement(item, depth + 1)}</li>
          ))}
        </List>
      )
    }
    case 'code':
      return (
        <pre className="overflow-x-auto rounded-lg bg-sunken p-3 font-mono text-[0.8125rem]">
          {token.text}
        </pre>
      )
    case 'hr':
      return <hr />
    case 'br':
      return <br />
    case 'strong':
      return <strong>{inner()}</strong>
    case 'em':
      return <em>{inner()}</em>
    case 'del':
      return <del>{inner()}</del>
    case 'codespan':
      return <code className="font-mono text-[0.8125rem]">{token.text}</code>
    case 'link':
      return linkIssue(token.href) === undefined ? (
        <a href={token.href} target="_blank" rel="noreferrer" className="text-accent-text underline">
          {inner()}
        </a>
      ) : (
        token.raw
      )
    case 'list_item':
    case 'text':
    case 'escape':
      return inner()
    default:
      return token.raw
  }
}

const textOf = (token: Token): string => ('text' in token ? token.text : token.raw)

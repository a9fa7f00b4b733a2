import { BookOpen, Bot, ChevronRight, FileJson, KeyRound } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'

/** What else connects other tools, and where to read about it. */
export function OtherWays() {
  const may = useMay()
  const baseUrl = usePublicConfig()?.publicUrl ?? window.location.origin
  return (
    <Card className="overflow-clip">
      <CardHeader title="More ways to connect" />
      <ul className="divide-y border-t">
        {may(wire.apiKeys.list) && (
          <Way
            icon={<KeyRound />}
            title="API keys"
            about="Let scripts and services issue, extend and ban licenses."
            to={paths.apiKeys}
          />
        )}
        <Way
          icon={<BookOpen />}
          title="Automation guide"
          about="Calls with curl, a TypeScript client, and receivers of webhooks."
          href={paths.automation}
        />
        <Way
          icon={<FileJson />}
          title="OpenAPI document"
          about="Generate a client in your language."
          href={paths.openApi}
        />
        <li className="flex gap-3 px-4 py-3 md:px-5">
          <Bot aria-hidden className="mt-0.5 size-4 shrink-0 text-fg-muted" />
          <div className="grid min-w-0 flex-1 gap-2">
            <p>
              <span className="block font-medium">Agents</span>
              <span className="text-[0.8125rem] text-fg-muted">
                Give this command, with the folder of Keyward on your machine, to an agent that speaks the
                Model Context Protocol. It reads; with <code className="font-mono">--write</code> it also
                creates, extends and bans.
              </span>
            </p>
            <CodeBlock
              title="Terminal"
              wrap
              code={`KEYWARD_URL='${baseUrl}' KEYWARD_API_KEY='kwa_…' npx --prefix /opt/keyward keyward mcp`}
            />
          </div>
        </li>
      </ul>
    </Card>
  )
}

interface WayProps {
  icon: ReactNode
  title: string
  about: string
  /** A page of the console, or one of those that the server serves itself. */
  to?: string
  href?: string
}

function Way({ icon, title, about, to, href }: WayProps) {
  const className =
    'flex items-center gap-3 px-4 py-3 -outline-offset-2 hover:bg-hover md:px-5 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-fg-muted'
  const content = (
    <>
      {icon}
      <span className="min-w-0 flex-1">
        <span className="block font-medium">{title}</span>
        <span className="block text-[0.8125rem] text-fg-muted">{about}</span>
      </span>
      <ChevronRight aria-hidden />
    </>
  )
  return (
    <li>
      {to ? (
        <Link to={to} className={className}>
          {content}
        </Link>
      ) : (
        <a href={href} target="_blank" rel="noreferrer" className={className}>
          {content}
        </a>
      )}
    </li>
  )
}

import type { App } from '@keyward/contract'
import type { ReactNode } from 'react'
import { May } from '../../lib/api/rights.tsx'
import { type Wire, wire } from '../../lib/api/wire.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { useAppDialog } from './app-dialogs.tsx'
import { useReleases } from './releases-queries.ts'
import { useAppVariables } from './variables-queries.ts'

const shownMax = 5

/** The variables and the latest releases of an app, as parts of its page. */
export function AppSections({ app }: { app: App }) {
  const dialog = useAppDialog()
  const releases = useReleases(app._id)
  return (
    <div className="grid gap-4 md:gap-6">
      <May call={wire.variables.app}>
        <Variables app={app} />
      </May>
      <Section
        title="Releases"
        description="Your versions, newest first."
        query={releases}
        failure="Failed to load the releases"
        empty="No releases yet: every license covers every version."
        total={releases.data?.length}
        edit={wire.releases.add}
        onEdit={() => dialog.open('releases', app._id)}
      >
        {releases.data?.slice(0, shownMax).map((release) => (
          <li key={release._id} className="flex items-center gap-3 py-2">
            <span className="min-w-0 flex-1 truncate font-mono text-[0.8125rem]" title={release.version}>
              {release.version}
            </span>
            <span className="text-[0.8125rem] text-fg-muted">
              <DateText value={release.releasedAt} />
            </span>
          </li>
        ))}
      </Section>
    </div>
  )
}

function Variables({ app }: { app: App }) {
  const dialog = useAppDialog()
  const variables = useAppVariables(app._id)
  return (
    <Section
      title="Variables"
      description="Texts that your programs receive, signed."
      query={variables}
      failure="Failed to load the variables"
      empty="No variables yet."
      total={variables.data?.variables.length}
      edit={wire.variables.setApp}
      onEdit={() => dialog.open('variables', app._id)}
    >
      {variables.data?.variables.slice(0, shownMax).map((variable) => (
        <li key={variable.name} className="flex items-center gap-3 py-2">
          <code className="min-w-0 flex-1 truncate text-[0.8125rem]" title={variable.name}>
            {variable.name}
          </code>
          {variable.public && <Badge>Before sign-in</Badge>}
          {variable.offline && <Badge>Offline</Badge>}
        </li>
      ))}
    </Section>
  )
}

interface SectionProps {
  title: string
  description: string
  query: { error: Error | null; isFetching: boolean; refetch: () => unknown }
  failure: string
  empty: string
  /** Undefined while loading. */
  total: number | undefined
  /** The call that editing makes. */
  edit: Wire
  onEdit: () => void
  children: ReactNode
}

function Section(props: SectionProps) {
  const { title, description, query, failure, empty, total, edit, onEdit, children } = props
  return (
    <Card>
      <CardHeader
        title={title}
        description={description}
        actions={
          <May call={edit}>
            <Button size="sm" aria-label={`Edit ${title.toLowerCase()}`} onClick={onEdit}>
              Edit
            </Button>
          </May>
        }
      />
      <CardBody>
        {total === undefined ? (
          query.error ? (
            <QueryError boxed query={query} title={failure} />
          ) : (
            <Skeleton className="h-16" />
          )
        ) : total === 0 ? (
          <p className="text-fg-muted">{empty}</p>
        ) : (
          <>
            <ul aria-label={title} className="divide-y">
              {children}
            </ul>
            {total > shownMax && (
              <p className="mt-2 text-[0.8125rem] text-fg-muted">{`and ${total - shownMax} more`}</p>
            )}
          </>
        )}
      </CardBody>
    </Card>
  )
}

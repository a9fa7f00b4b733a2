import type { ActivityEvent } from '@keyward/contract'
import type { ReactNode } from 'react'
import { useMay } from '../../lib/api/rights.tsx'
import { Button } from '../../ui/button.tsx'
import { TimeText } from '../../ui/date.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { fixLabels, whyOf } from './labels.ts'
import { fixCalls, useExplanation, useFix } from './queries.ts'

interface LastRefusalProps {
  reference: string
  /** What follows from it. */
  children?: (event: ActivityEvent, isSolved: boolean) => ReactNode
}

/** Why a program was refused last, and the click that removes the reason. */
export function LastRefusal({ reference, children }: LastRefusalProps) {
  const explained = useExplanation(reference)
  const fix = useFix()
  const may = useMay()
  const { event, explanation } = explained.data ?? {}
  if (explained.isError) return <QueryError boxed query={explained} title="Failed to load the explanation" />
  if (!event || !explanation) return explained.isPending ? <Skeleton className="h-40" /> : null
  const offered = explanation.fix
  const isSolved = explanation.now?.code === null
  return (
    <>
      <Part title="The last refusal">
        <p className="font-medium">
          {explanation.title} · <TimeText value={event.lastAt} />
        </p>
        <p className="wrap-anywhere">{whyOf(explanation)}</p>
        <p className="text-fg-muted">
          {isSolved ? 'This reason no longer applies: the program may run now.' : explanation.advice}
        </p>
        {offered && !isSolved && may(...fixCalls[offered.action]) && (
          <Button
            variant="primary"
            className="justify-self-start"
            loading={fix.isPending}
            onClick={() => fix.mutate(offered)}
          >
            {fixLabels[offered.action]}
          </Button>
        )}
      </Part>
      {children?.(event, isSolved)}
    </>
  )
}

export const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section aria-label={title} className="grid gap-2">
    <h3 className="font-semibold">{title}</h3>
    {children}
  </section>
)

import { Check, X } from 'lucide-react'
import { useId } from 'react'
import { Link } from 'react-router'
import { Button, IconButton } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { cx } from '../../ui/cx.ts'

export interface Step {
  title: string
  text: string
  done: boolean
  /** Where the step is done; undefined while an earlier one is missing. */
  to?: string | undefined
  action?: string
  /** Takes the step off the list. */
  onDismiss?: () => void
}

export interface StepCardProps {
  title: string
  steps: readonly Step[]
  /** The step to do next, when they have an order. */
  next?: number
  /** One step below the other, in a narrow column. */
  stacked?: boolean
  onHide: () => void
}

const columns = ['', '', 'md:grid-cols-2', 'md:grid-cols-3', 'md:grid-cols-2 lg:grid-cols-4']

/** Steps that check themselves off. Hiding them moves the focus to the page. */
export function StepCard({ title, steps, next, stacked = false, onHide }: StepCardProps) {
  const id = useId()
  const done = steps.filter((step) => step.done).length
  const leave = (act: () => void) => () => {
    act()
    document.getElementById('main')?.focus()
  }
  return (
    <Card aria-labelledby={id}>
      <CardHeader
        title={<span id={id}>{title}</span>}
        description={`${done} of ${steps.length} steps done`}
        actions={
          <IconButton label={`Hide ${title.toLowerCase()}`} onClick={leave(onHide)}>
            <X />
          </IconButton>
        }
      />
      <ol className={cx('grid border-t', !stacked && columns[steps.length])}>
        {steps.map((step, index) => {
          const current = index === next
          const { onDismiss } = step
          return (
            <li
              key={step.title}
              aria-current={current ? 'step' : undefined}
              className={cx(
                'flex gap-3 px-5',
                stacked && 'py-3.5 not-first:border-t',
                !stacked && 'py-4 max-md:not-first:border-t lg:flex-col',
                !stacked && steps.length < 4 && 'md:not-first:border-l',
                !stacked && steps.length === 4 && 'md:max-lg:nth-[n+3]:border-t lg:not-first:border-l',
              )}
            >
              <Mark number={index + 1} done={step.done} current={current} />
              <div className="flex min-w-0 flex-1 flex-col items-start gap-1">
                <p className={cx('font-medium', next !== undefined && !current && 'text-fg-muted')}>
                  {step.title}
                  {step.done && <span className="sr-only"> (done)</span>}
                </p>
                <p className="flex-1 text-[0.8125rem] text-fg-muted">{step.text}</p>
                {!step.done && step.to && (
                  <div
                    className={cx('mt-2 flex flex-wrap gap-2', next !== undefined && !current && '-ml-2.5')}
                  >
                    <Button
                      asChild
                      size="sm"
                      variant={current ? 'primary' : next === undefined ? 'secondary' : 'ghost'}
                      className="max-md:h-10"
                    >
                      <Link to={step.to}>{step.action}</Link>
                    </Button>
                    {onDismiss && (
                      <Button
                        size="sm"
                        variant="ghost"
                        className="max-md:h-10"
                        aria-label={`Not needed: ${step.title}`}
                        onClick={leave(onDismiss)}
                      >
                        Not Needed
                      </Button>
                    )}
                  </div>
                )}
              </div>
            </li>
          )
        })}
      </ol>
    </Card>
  )
}

function Mark({ number, done, current }: { number: number; done: boolean; current: boolean }) {
  return (
    <span
      aria-hidden
      className={cx(
        'grid size-6 shrink-0 place-items-center rounded-full border font-semibold text-xs tabular-nums',
        done && 'border-success-line bg-success-soft text-success-text',
        current && 'border-accent-line bg-accent-soft text-accent-text',
        !done && !current && 'text-fg-muted',
      )}
    >
      {done ? <Check className="size-3.5" /> : number}
    </span>
  )
}

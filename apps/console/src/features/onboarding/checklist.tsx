import { Check, X } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { useSnippetCopied } from '../../lib/browser/snippet.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { cx } from '../../ui/cx.ts'
import { finishOnboarding } from './done.ts'

export interface ChecklistProps {
  ownerId: string
  /** Newest first. */
  apps: readonly { _id: string }[]
  hasLicense: boolean
  className?: string
}

/** The steps to the first activation, on the dashboard until completed or hidden. */
export function Checklist({ ownerId, apps, hasLicense, className }: ChecklistProps) {
  const [hidden, setHidden] = useState(false)
  const copied = useSnippetCopied(apps.map(({ _id }) => _id))
  const app = apps[0]
  const steps = [
    { title: 'Create an app', text: 'An app represents one program that you sell.', done: app !== undefined },
    {
      title: 'Generate a license',
      text: 'Your customer enters the key in your program.',
      done: hasLicense,
      to: app && `${paths.licenses}?dialog=generate`,
      action: 'Generate',
    },
    {
      title: 'Put the snippet in your program',
      text: 'A few lines that let it run only with a valid key.',
      done: copied,
      to: app && `${paths.dashboard}?dialog=integrate&id=${app._id}`,
      action: 'Show snippet',
    },
    {
      title: 'First activation',
      text: 'Run your program with the key. The activation appears here immediately.',
      done: false,
      to: hasLicense ? paths.licenses : undefined,
      action: 'Copy a key',
    },
  ]
  const next = steps.findIndex(({ done }) => !done)
  const done = steps.filter((step) => step.done).length
  if (hidden) return null
  return (
    <Card aria-labelledby="onboarding" className={className}>
      <CardHeader
        title={<span id="onboarding">Getting started</span>}
        description={`${done} of ${steps.length} steps done`}
        actions={
          <IconButton
            label="Hide getting started"
            onClick={() => {
              setHidden(true)
              finishOnboarding(ownerId)
              document.getElementById('main')?.focus()
            }}
          >
            <X />
          </IconButton>
        }
      />
      <ol className={cx('grid border-t', app && 'md:grid-cols-2 lg:grid-cols-4')}>
        {steps.map((step, index) => {
          const current = index === next
          return (
            <li
              key={step.title}
              aria-current={current ? 'step' : undefined}
              className={cx(
                'flex gap-3 px-5',
                app
                  ? 'py-4 max-md:not-first:border-t lg:flex-col md:max-lg:nth-[n+3]:border-t lg:not-first:border-l'
                  : 'py-3.5 not-first:border-t',
              )}
            >
              <Mark number={index + 1} done={step.done} current={current} />
              <div className="flex min-w-0 flex-1 flex-col items-start gap-1">
                <p className={cx('font-medium', !current && 'text-fg-muted')}>
                  {step.title}
                  {step.done && <span className="sr-only"> (done)</span>}
                </p>
                <p className="flex-1 text-[0.8125rem] text-fg-muted">{step.text}</p>
                {!step.done && step.to && (
                  <Button
                    asChild
                    size="sm"
                    variant={current ? 'primary' : 'ghost'}
                    className={cx('mt-2 max-md:h-10', !current && '-ml-2.5')}
                  >
                    <Link to={step.to}>{step.action}</Link>
                  </Button>
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

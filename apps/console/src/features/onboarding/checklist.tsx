import { useState } from 'react'
import { useSnippetCopied } from '../../lib/browser/snippet.ts'
import { appTabPath } from '../../lib/navigation/app-tabs.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { finishOnboarding } from './done.ts'
import { StepCard } from './step-card.tsx'

export interface ChecklistProps {
  ownerId: string
  /** Newest first. */
  apps: readonly { _id: string }[]
  hasLicense: boolean
}

/** The steps to the first activation, on the dashboard until completed or hidden. */
export function Checklist({ ownerId, apps, hasLicense }: ChecklistProps) {
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
      to: app && appTabPath(app._id, 'integration'),
      action: 'Show Snippet',
    },
    {
      title: 'First activation',
      text: 'Run your program with the key. The activation appears here immediately.',
      done: false,
      to: hasLicense ? paths.licenses : undefined,
      action: 'Copy a Key',
    },
  ]
  const next = steps.findIndex(({ done }) => !done)
  if (hidden) return null
  return (
    <StepCard
      title="Getting started"
      steps={steps}
      next={next}
      stacked={!app}
      onHide={() => {
        setHidden(true)
        finishOnboarding(ownerId)
      }}
    />
  )
}

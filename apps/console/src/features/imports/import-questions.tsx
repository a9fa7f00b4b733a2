import type { Import } from '@keyward/contract'
import { useState } from 'react'
import { amountOf } from '../../lib/format/words.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardFooter, CardHeader } from '../../ui/card.tsx'
import { useRunImport } from './queries.ts'

/** What the files leave open, with the buttons that check again and import. */
export function ImportQuestions({ of: { _id, questions, created, state } }: { of: Import }) {
  const stored = Object.fromEntries(
    questions.flatMap(({ name, answer }) => (answer === null ? [] : [[name, answer]])),
  )
  const [changed, setChanged] = useState<Record<string, string>>({})
  const answers: Record<string, string> = { ...stored, ...changed }
  const run = useRunImport(_id)
  const open = questions.filter(({ name }) => answers[name] === undefined).length
  const isStale = questions.some(({ name }) => answers[name] !== undefined && answers[name] !== stored[name])
  const isChecked = state === 'checked' && !isStale && open === 0
  const start = (dryRun: boolean) => run.mutate({ dryRun, answers })
  return (
    <Card>
      <CardHeader
        title={questions.length > 0 ? 'Questions' : 'Ready'}
        description={
          questions.length > 0
            ? 'The files leave this open. Answer, then check again to see what changes.'
            : 'Nothing has changed yet.'
        }
      />
      {questions.length > 0 && (
        <CardBody className="grid gap-5">
          {questions.map(({ name, text, rows, choices }) => (
            <fieldset key={name} className="grid gap-2">
              <legend className="mb-1 font-medium">
                {text} <span className="font-normal text-fg-muted">({amountOf(rows, 'row')})</span>
              </legend>
              {choices.map((choice) => (
                <label
                  key={choice.value}
                  className="flex min-h-6 cursor-pointer items-center gap-2.5 max-md:min-h-11"
                >
                  <input
                    type="radio"
                    name={`question-${name}`}
                    className="size-4 accent-(--color-accent)"
                    checked={answers[name] === choice.value}
                    onChange={() => setChanged({ ...changed, [name]: choice.value })}
                  />
                  {choice.text}
                </label>
              ))}
            </fieldset>
          ))}
        </CardBody>
      )}
      <CardFooter>
        {!isChecked && (
          <Button
            variant={state === 'checked' ? 'secondary' : 'primary'}
            disabled={state === 'checked' && !isStale}
            loading={run.isPending}
            onClick={() => start(true)}
          >
            {state === 'checked' ? 'Check Again' : 'Check Files'}
          </Button>
        )}
        {state === 'checked' && (
          <Button
            variant="primary"
            disabled={!isChecked || created === 0}
            loading={run.isPending}
            onClick={() => start(false)}
          >
            {`Import ${amountOf(created, 'Row')}`}
          </Button>
        )}
      </CardFooter>
    </Card>
  )
}

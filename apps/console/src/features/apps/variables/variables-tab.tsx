import type { App, DataOf, endpoints } from '@keyward/contract'
import { useState } from 'react'
import type { Control, Resolver } from 'react-hook-form'
import { useMay } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { showFieldErrors, useCheckedForm } from '../../../lib/form/checked-form.ts'
import { useFreshData } from '../../../lib/form/fresh-data.ts'
import { isSame, useUnsaved } from '../../../lib/form/unsaved.ts'
import { appTabPath } from '../../../lib/navigation/app-tabs.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card, CardBody, CardFooter, CardHeader } from '../../../ui/card.tsx'
import { type NamedValues, NamedValuesFields } from '../../../ui/named-values.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { QueryError } from '../../../ui/states.tsx'
import { useAppVariables, useSetAppVariables } from './variables-queries.ts'

type Stored = DataOf<typeof endpoints.variables.app>

/** What every program of an app receives. */
export function VariablesTab({ app }: { app: App }) {
  // Cancel loads the variables again, because someone else may have changed them.
  const [edition, setEdition] = useState(0)
  return (
    <Card aria-label={`Variables of ${app.name}`}>
      <CardHeader
        title={`Variables of ${app.name}`}
        description="Texts that your programs receive, signed, with their next call."
      />
      <Loaded key={edition} app={app} onCancel={() => setEdition(edition + 1)} />
    </Card>
  )
}

function Loaded({ app, onCancel }: { app: App; onCancel: () => void }) {
  const variables = useAppVariables(app._id)
  const stored = useFreshData(variables)
  const mayEdit = useMay()(wire.variables.setApp)
  if (!stored) {
    return (
      <CardBody>
        {variables.isError ? (
          <QueryError boxed query={variables} title="Failed to load the variables" />
        ) : (
          <Skeleton className="h-40" />
        )}
      </CardBody>
    )
  }
  return mayEdit ? (
    <VariablesForm app={app} opened={stored} onCancel={onCancel} />
  ) : (
    <VariablesList variables={stored.variables} />
  )
}

function VariablesList({ variables }: { variables: Stored['variables'] }) {
  return (
    <CardBody>
      {variables.length === 0 && <p className="text-fg-muted">No variables yet.</p>}
      <ul aria-label="Variables" className="divide-y">
        {variables.map((variable) => (
          <li key={variable.name} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
            <code className="wrap-anywhere font-medium text-[0.8125rem]">{variable.name}</code>
            <code className="wrap-anywhere min-w-0 flex-1 text-[0.8125rem]">{variable.value}</code>
            {variable.public && <Badge>Before sign-in</Badge>}
            {variable.offline && <Badge>Offline</Badge>}
          </li>
        ))}
      </ul>
    </CardBody>
  )
}

/** Loaded when the form gets the focus: the schemas weigh as much as a page. */
const loadResolver = async () => {
  const [{ zodResolver }, { variables }] = await Promise.all([
    import('@hookform/resolvers/zod'),
    import('@keyward/contract/variables'),
  ])
  return zodResolver(variables.setApp.body!.pick({ variables: true }))
}

/** Without the schemas only the server checks. */
const resolver: Resolver<Pick<Stored, 'variables'>> = async (values, ...further) => {
  const resolve = await loadResolver().catch(() => undefined)
  return resolve ? resolve(values, ...further) : { values, errors: {} }
}

function VariablesForm({ app, opened, onCancel }: { app: App; opened: Stored; onCancel: () => void }) {
  const save = useSetAppVariables(app._id)
  const [stored, setStored] = useState(opened)
  const form = useCheckedForm(resolver, { defaultValues: { variables: opened.variables } })
  const { changes, forget, send } = useUnsaved<Stored['variables']>({
    title: `Variables of ${app.name}`,
    to: appTabPath(app._id, 'variables'),
    opened: stored.variables,
    values: form.watch('variables'),
    // A removed one is undefined.
    show: (variables) => form.setValue('variables', Object.values(variables).filter(Boolean)),
  })
  const typed = () => form.getValues('variables')
  const submit = form.handleSubmit(({ variables }) => {
    const settle = send(structuredClone(typed()))
    return save.mutateAsync({ variables, seen: stored.revision }).then(
      (saved) => {
        const shown = settle(saved.variables)
        setStored(saved)
        // Who types on keeps the focus.
        if (isSame(shown, { ...saved.variables })) form.reset({ variables: saved.variables })
      },
      (error) => showFieldErrors(form, error),
    )
  })
  const cancel = () => {
    forget()
    onCancel()
  }
  return (
    <form noValidate onSubmit={submit} onFocus={() => void loadResolver().catch(() => {})}>
      <CardBody className="grid gap-4">
        <p className="max-w-prose text-fg-muted">
          Variables that are available offline are in the lease on the customer's disk: signed, not secret,
          together at most 8 KiB. A new value arrives with the next lease.
        </p>
        <NamedValuesFields
          control={form.control as unknown as Control<NamedValues>}
          flags={{ public: 'Send before anyone signs in', offline: 'Available offline' }}
          addLabel="Add Variable"
          empty="No variables yet. Signed-in users receive all, others the public ones."
        />
      </CardBody>
      <CardFooter>
        <Button onClick={cancel} disabled={save.isPending || changes === 0}>
          Cancel
        </Button>
        <Button type="submit" variant="primary" loading={save.isPending} disabled={changes === 0}>
          Save Variables
        </Button>
      </CardFooter>
    </form>
  )
}

import type { App, LazyMove } from '@keyward/contract'
import { oldProtocols } from '@keyward/contract/lazy-move'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { toDayInput } from '../../lib/format/dates.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Input } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { lazyMoveDefaults, lazyMoveSchema, proofOf, urlAfter } from './lazy-move-form.ts'
import { useUpdateLazyMove } from './queries.ts'

const options = oldProtocols.map((protocol) => ({ value: protocol, label: protocol }))
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

export function LazyMoveDialog({ app, saved, onClose }: { app: App; saved: LazyMove; onClose: () => void }) {
  const update = useUpdateLazyMove(app._id, 'Move saved')
  const form = useSchemaForm(lazyMoveSchema(saved.until), {
    defaultValues: lazyMoveDefaults(saved, app.name),
  })
  const { errors } = form.formState
  const protocol = form.watch('protocol')
  const proof = proofOf[protocol]
  const change = { shouldDirty: true, shouldValidate: form.formState.isSubmitted }
  function choose(value: string) {
    const next = oldProtocols.find((one) => one === value) ?? protocol
    form.setValue('url', urlAfter(form.getValues('url'), next))
    form.setValue('protocol', next, change)
  }
  const submit = useSubmit({ form, onDone: onClose }, (body) => update.mutateAsync(body))
  return (
    <FormDialog
      size="lg"
      title="Move at the next sign-in"
      description="What your shipped programs contain to reach the old provider. Keyward asks it as one of them would."
      busy={update.isPending}
      onClose={onClose}
      onSubmit={submit}
      autoComplete="off"
      submitLabel="Save"
    >
      <div className="grid items-start gap-4 md:grid-cols-[8rem_1fr]">
        <Field label="Protocol">
          <Select value={protocol} options={options} onChange={choose} />
        </Field>
        <Field label="Address" hint="The one that your programs call" error={errors.url?.message}>
          <Input {...form.register('url')} type="url" spellCheck={false} />
        </Field>
      </div>
      <div className="grid gap-4 md:grid-cols-2">
        <Field label="Name" hint="The app’s name there" error={errors.name?.message}>
          <Input {...form.register('name')} />
        </Field>
        <Field label="Owner ID" hint="10 letters and digits" error={errors.ownerId?.message}>
          <Input {...form.register('ownerId')} className="font-mono" spellCheck={false} />
        </Field>
      </div>
      {proof === 'secret' && (
        <Field
          label="Secret"
          optional={protocol === '1.2'}
          hint={
            protocol === '1.2' ? 'Verifies answers: enter it if you have it' : 'Encrypts requests and answers'
          }
          error={errors.secret?.message}
        >
          <Input {...form.register('secret')} className="font-mono" spellCheck={false} />
        </Field>
      )}
      {proof === 'publicKey' && (
        <Field
          label="Public key"
          optional
          hint="Verifies answers: the 64 characters in your programs"
          error={errors.publicKey?.message}
        >
          <Input {...form.register('publicKey')} className="font-mono" spellCheck={false} />
        </Field>
      )}
      {proof === null && (
        <p className="text-[0.8125rem] text-fg-muted">
          Protocol 1.1 signs nothing, so nothing but TLS protects its answers.
        </p>
      )}
      <Field
        label="Last day"
        hint={`Until midnight, ${zone}`}
        error={errors.lastDay?.message}
        className="md:max-w-60"
      >
        <Input {...form.register('lastDay')} type="date" min={toDayInput(new Date())} />
      </Field>
    </FormDialog>
  )
}

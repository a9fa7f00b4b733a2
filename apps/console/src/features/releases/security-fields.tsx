import { Plus, X } from 'lucide-react'
import { useFieldArray } from 'react-hook-form'
import { Button, IconButton } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { FormSelect } from '../../ui/form-select.tsx'
import { Input, Textarea } from '../../ui/input.tsx'
import type { ReleaseForm } from './artifact-fields.tsx'
import { orNull } from './release-rules.ts'

const severities = ['Low', 'Medium', 'High', 'Critical'].map((label) => ({
  value: label.toLowerCase(),
  label,
}))

/** What a release fixes, and in which versions. */
export function SecurityFields({ form }: { form: ReleaseForm }) {
  const ranges = useFieldArray({ control: form.control, name: 'security.affects' })
  const errors = form.formState.errors.security
  return (
    <div className="grid gap-3 rounded-lg border p-3">
      <Field label="Severity">
        <FormSelect control={form.control} name="security.severity" options={severities} />
      </Field>
      <Field label="Summary" hint="What customers read" error={errors?.summary?.message}>
        <Textarea rows={2} maxLength={500} {...form.register('security.summary')} />
      </Field>
      <Field label="Advisory" optional error={errors?.advisory?.message}>
        <Input
          type="url"
          autoComplete="off"
          placeholder="https://example.com/advisories/1"
          {...form.register('security.advisory', orNull)}
        />
      </Field>
      <div className="grid gap-2">
        {ranges.fields.map((range, at) => {
          const wrong = errors?.affects?.[at]
          return (
            <div key={range.id} className="grid grid-cols-[1fr_1fr_auto] items-start gap-2">
              <Field
                label="Affected from"
                hint="Empty: every older one"
                error={wrong?.from?.message ?? wrong?.root?.message ?? wrong?.message}
              >
                <Input
                  className="font-mono"
                  autoComplete="off"
                  {...form.register(`security.affects.${at}.from`, orNull)}
                />
              </Field>
              <Field label="Fixed in" hint="Empty: every newer one" error={wrong?.before?.message}>
                <Input
                  className="font-mono"
                  autoComplete="off"
                  {...form.register(`security.affects.${at}.before`, orNull)}
                />
              </Field>
              <IconButton label={`Remove range ${at + 1}`} className="mt-7" onClick={() => ranges.remove(at)}>
                <X />
              </IconButton>
            </div>
          )
        })}
        <Button
          size="sm"
          className="justify-self-start"
          onClick={() => ranges.append({ from: null, before: null })}
        >
          <Plus />
          Add Affected Versions
        </Button>
      </div>
    </div>
  )
}

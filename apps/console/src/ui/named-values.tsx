import { Plus, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { type Control, useFieldArray, useFormState, useWatch } from 'react-hook-form'
import { Button, IconButton } from './button.tsx'
import { Checkbox } from './checkbox.tsx'
import { Field } from './field.tsx'
import { ExactInput, Textarea } from './input.tsx'

interface NamedValue {
  name: string
  value: string
  public?: boolean
  offline?: boolean | undefined
}

/** A form whose only field is a list of named texts. */
export interface NamedValues {
  variables: NamedValue[]
}

export interface NamedValuesFieldsProps {
  control: Control<NamedValues>
  /** With them, each value has a switch of each label. */
  flags?: { public: string; offline: string }
  addLabel: string
  empty: ReactNode
}

/** Edits a list of names with texts. */
export function NamedValuesFields({ control, flags, addLabel, empty }: NamedValuesFieldsProps) {
  const { fields, append, remove } = useFieldArray({ control, name: 'variables' })
  const { errors } = useFormState({ control, name: 'variables' })
  const values = useWatch({ control, name: 'variables' })
  const listError = errors.variables?.message ?? errors.variables?.root?.message
  return (
    <>
      {fields.length === 0 && <p className="text-fg-muted">{empty}</p>}
      {fields.map((field, at) => {
        const name = values[at]?.name || `variable ${at + 1}`
        const wrong = errors.variables?.[at]
        return (
          <fieldset key={field.id} className="grid gap-2 rounded-lg border p-3">
            <legend className="sr-only">{name}</legend>
            <div className="flex items-start gap-2">
              <Field label="Name" error={wrong?.name?.message} className="flex-1">
                <ExactInput {...control.register(`variables.${at}.name`)} className="font-mono" />
              </Field>
              <IconButton label={`Remove ${name}`} className="mt-6.5" onClick={() => remove(at)}>
                <Trash2 />
              </IconButton>
            </div>
            <Field label="Value" error={wrong?.value?.message}>
              <Textarea
                {...control.register(`variables.${at}.value`)}
                rows={2}
                spellCheck={false}
                className="font-mono"
              />
            </Field>
            {flags && (
              <>
                <FlagBox control={control} at={at} flag="public" label={flags.public} name={name} />
                <FlagBox control={control} at={at} flag="offline" label={flags.offline} name={name} />
              </>
            )}
          </fieldset>
        )
      })}
      {listError && (
        <p role="alert" className="text-[0.8125rem] text-danger-text">
          {listError}
        </p>
      )}
      <Button
        className="justify-self-start"
        onClick={() => append({ name: '', value: '', ...(flags && { public: false, offline: false }) })}
      >
        <Plus aria-hidden />
        {addLabel}
      </Button>
    </>
  )
}

interface FlagBoxProps {
  control: Control<NamedValues>
  at: number
  flag: 'public' | 'offline'
  label: string
  name: string
}

function FlagBox({ control, at, flag, label, name }: FlagBoxProps) {
  const { onChange, ref: _ref, ...field } = control.register(`variables.${at}.${flag}`)
  const checked = useWatch({ control, name: `variables.${at}.${flag}` })
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the box is inside
    <label className="flex items-center gap-2">
      <Checkbox
        label={`${label}: ${name}`}
        checked={checked === true}
        onChange={(value) => void onChange({ target: { name: field.name, value }, type: 'change' })}
      />
      <span aria-hidden>{label}</span>
    </label>
  )
}

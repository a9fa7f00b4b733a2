import { useState } from 'react'
import { viewNameMax } from '../lib/list/saved-views.ts'
import { Field } from './field.tsx'
import { FormDialog } from './form-dialog.tsx'
import { Input } from './input.tsx'

export interface ViewNameDialogProps {
  title: string
  description?: string
  name: string
  /** The names of the other views. */
  taken: string[]
  onSubmit: (name: string) => void
  onClose: () => void
}

/** Asks for the name of a saved view. */
export function ViewNameDialog(props: ViewNameDialogProps) {
  const { title, description, taken, onSubmit, onClose } = props
  const [text, setText] = useState(props.name)
  const name = text.trim()
  const isTaken = taken.includes(name)
  return (
    <FormDialog
      title={title}
      description={description}
      size="sm"
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        if (!name || isTaken) return
        onSubmit(name)
        onClose()
      }}
      submitLabel="Save"
      busy={false}
      disabled={!name || isTaken}
    >
      <Field label="Name" error={isTaken ? 'You already have a view of this name' : undefined}>
        <Input
          value={text}
          maxLength={viewNameMax}
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
    </FormDialog>
  )
}

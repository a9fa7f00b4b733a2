import type { License } from '@keyward/contract'
import { useState } from 'react'
import { useLicenseTypes } from '../../lib/api/license-types.ts'
import { noDateText } from '../../lib/format/ending.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { typeSummary } from '../../lib/format/license-type.ts'
import { DateText } from '../../ui/date.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Select } from '../../ui/select.tsx'
import { Callout } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { type TypeEnd, useChangeType, useTypePreview } from './change-type.ts'
import { typeChanges } from './type-changes.ts'

const ends: { value: TypeEnd; label: string }[] = [
  { value: 'later', label: 'The later of both' },
  { value: 'type', label: 'As the type says' },
  { value: 'keep', label: 'Keep the current expiry' },
]

/** Gives a license another type, after it shows what changes for the customer. */
export function ChangeTypeDialog({ license, onClose }: { license: License; onClose: () => void }) {
  const change = useChangeType()
  const types = useLicenseTypes(license.app._id)
  // The list may load the license again while this dialog shows the values from before.
  const [seen] = useState(license)
  const [chosen, setChosen] = useState<string>()
  const [end, setEnd] = useState<TypeEnd>('later')
  const [confirmed, setConfirmed] = useState(false)
  const type = types.data?.find(({ _id }) => _id === chosen)
  const preview = useTypePreview(seen, chosen, end)
  const later = useTypePreview(seen, chosen, 'later')
  const shortens = end === 'type' && preview && later ? endText(preview) !== endText(later) : false
  const lines = preview ? typeChanges(seen, preview) : []

  return (
    <FormDialog
      onClose={onClose}
      busy={change.isPending}
      title="Change License Type"
      description={`${license.app.name}, ${keyPrefix(license.key)}`}
      onSubmit={(event) => {
        event.preventDefault()
        if (!chosen || !preview || !later || (shortens && !confirmed) || change.isPending) return
        change.mutate({ license: seen, type: chosen, end }, { onSuccess: onClose })
      }}
      submitLabel="Change Type"
      disabled={!preview || !later || (shortens && !confirmed)}
    >
      {types.data?.length === 0 ? (
        <Callout>{`${license.app.name} has no license types. Create one on the page of the app.`}</Callout>
      ) : (
        <Field label="License Type" hint={type ? typeSummary(type) : undefined}>
          <Select
            value={chosen}
            onChange={(value) => {
              setChosen(value)
              setConfirmed(false)
            }}
            placeholder={seen.type ? `Now: ${seen.type.name}` : 'Choose a license type'}
            options={(types.data ?? []).map(({ _id, name }) => ({ value: _id, label: name }))}
          />
        </Field>
      )}
      {chosen && (
        <Field label="Expiry">
          <Select
            value={end}
            onChange={(value) => {
              setEnd(value as TypeEnd)
              setConfirmed(false)
            }}
            options={ends}
          />
        </Field>
      )}
      {shortens && (
        <>
          <Callout tone="warning">
            The new expiry is earlier than the current one. This shortens the license.
          </Callout>
          <Switch label="Shorten the license" checked={confirmed} onChange={setConfirmed} />
        </>
      )}
      {preview && (
        <div aria-live="polite" className="rounded-lg border px-4 py-1">
          <Facts
            items={[
              {
                label: 'Current expiry',
                value: <DateText value={seen.expiresAt} none={noDateText(seen)} />,
              },
              {
                label: 'New expiry',
                value: <DateText value={preview.expiresAt} none={noDateText(preview)} />,
              },
              ...lines.map(({ label, before, after }) => ({ label, value: `${before} → ${after}` })),
            ]}
          />
        </div>
      )}
      {preview && lines.length === 0 && (
        <p className="text-[0.8125rem] text-fg-muted">Devices, features and updates stay as they are.</p>
      )}
      {preview && seen.usedBy && (
        <p className="text-[0.8125rem] text-fg-muted">
          {seen.added
            ? 'An upgrade added this license: its features and devices change for the end user. The time that it gives stays, and they end with it. '
            : 'The end user gets the same expiry. '}
          Devices that are bound stay bound, also beyond a smaller number.
        </p>
      )}
    </FormDialog>
  )
}

const endText = (license: License) => license.expiresAt ?? noDateText(license)

import type { App, Profile } from '@keyward/contract'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useMay } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { issuesOf, useTextForm } from '../../../lib/form/text-form.ts'
import { appTabPath } from '../../../lib/navigation/app-tabs.ts'
import { paths } from '../../../lib/navigation/paths.ts'
import { Button } from '../../../ui/button.tsx'
import { Card, CardBody, CardFooter, CardHeader } from '../../../ui/card.tsx'
import { Field, useFieldControl } from '../../../ui/field.tsx'
import { Input } from '../../../ui/input.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { QueryError } from '../../../ui/states.tsx'
import { encodeLogo } from './logo.ts'
import { useProfile, useUpdateProfile } from './profile-queries.ts'

type Written = { [Part in keyof Profile]: string }

/** An empty part is none. */
const toProfile = ({ name, support, logo }: Written): Profile => ({
  name: name.trim() || null,
  support: support.trim() || null,
  logo: logo || null,
})
const toWritten = ({ name, support, logo }: Profile): Written => ({
  name: name ?? '',
  support: support ?? '',
  logo: logo ?? '',
})
const rules = async () => {
  const { profiles } = await import('@keyward/contract/profiles')
  return (written: Written) => issuesOf(profiles.update.body!, toProfile(written))
}

export interface ProfileCardProps {
  /** Undefined for the profile of the vendor. */
  app?: App
  /** What counts where the app has nothing. */
  vendors?: Profile | undefined
  /** Called with the unsaved profile after each change. */
  onChange?: (profile: Profile) => void
}

export function ProfileCard(props: ProfileCardProps) {
  const { app } = props
  const profile = useProfile(app?._id)
  return (
    <Card aria-label="Business Profile">
      <CardHeader
        title="Business Profile"
        description={
          app
            ? `What customers of ${app.name} see of you. Where this is empty, the profile in Settings counts.`
            : 'What customers and resellers see of you: in mails, on the customer’s page and in the portal.'
        }
      />
      {profile.data ? (
        <ProfileForm {...props} stored={profile.data} />
      ) : profile.isError ? (
        <QueryError query={profile} title="Failed to load the profile" />
      ) : (
        <CardBody>
          <Skeleton className="h-64" />
        </CardBody>
      )}
    </Card>
  )
}

function ProfileForm({ app, vendors, onChange, stored }: ProfileCardProps & { stored: Profile }) {
  const update = useUpdateProfile(app?._id)
  const readOnly = !useMay()(app ? wire.profiles.updateOfApp : wire.profiles.update)
  const form = useTextForm<Written>({
    title: app ? `Business Profile of ${app.name}` : 'Business Profile',
    to: app ? appTabPath(app._id, 'customers') : `${paths.settings}?profile`,
    opened: toWritten(stored),
    rules,
  })
  const { values, errors, isDirty } = form
  const { name, support, logo } = values
  useEffect(() => onChange?.(toProfile({ name, support, logo })), [name, support, logo, onChange])
  const save = form.props((written) => update.mutateAsync(toProfile(written)).then(toWritten))
  return (
    <form {...save}>
      <CardBody className="grid grid-cols-1 items-start gap-4 sm:grid-cols-2">
        <Field label="Business name" optional error={errors.name}>
          <Input
            {...form.field('name')}
            readOnly={readOnly}
            autoComplete="off"
            placeholder={vendors?.name ?? app?.name ?? 'The name of the app'}
          />
        </Field>
        <Field
          label="Help for customers"
          optional
          hint="An email address, which also gets answers to mails, or an https link."
          error={errors.support}
        >
          <Input
            {...form.field('support')}
            readOnly={readOnly}
            autoComplete="off"
            placeholder={vendors?.support ?? 'help@company.com'}
          />
        </Field>
        <LogoField
          value={logo}
          error={errors.logo}
          readOnly={readOnly}
          onChange={(next) => form.change('logo', next)}
        />
      </CardBody>
      {!readOnly && (
        <CardFooter>
          <Button onClick={() => form.reset()} disabled={update.isPending || !isDirty}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" loading={update.isPending} disabled={!isDirty}>
            Save Profile
          </Button>
        </CardFooter>
      )}
    </form>
  )
}

interface LogoFieldProps {
  value: string
  onChange: (logo: string) => void
  readOnly: boolean
  error: string | undefined
}

function LogoField({ value, onChange, readOnly, error }: LogoFieldProps) {
  const input = useRef<HTMLInputElement>(null)
  const [failed, setFailed] = useState(false)
  const take = async (file: File | undefined) => {
    if (!file) return
    try {
      onChange(await encodeLogo(file))
      setFailed(false)
    } catch {
      setFailed(true)
    }
  }
  return (
    <Field
      label="Logo"
      optional
      hint="A PNG or JPEG. It is made small enough for mails."
      error={failed ? 'This file is no picture. Choose a PNG or a JPEG.' : error}
    >
      <PictureInput input={input} disabled={readOnly} onFile={take} />
      <div className="flex flex-wrap items-center gap-3">
        {value && (
          <img
            src={value}
            alt="The logo"
            className="h-12 max-w-48 rounded border bg-white object-contain p-1"
          />
        )}
        {!readOnly && (
          <>
            <Button onClick={() => input.current?.click()}>{value ? 'Choose Another' : 'Choose Logo'}</Button>
            {value && (
              <Button variant="ghost" onClick={() => onChange('')}>
                Remove Logo
              </Button>
            )}
          </>
        )}
      </div>
    </Field>
  )
}

interface PictureInputProps {
  input: RefObject<HTMLInputElement | null>
  disabled: boolean
  onFile: (file: File | undefined) => Promise<void>
}

/** The control of the field; the button beside it opens it. */
function PictureInput({ input, disabled, onFile }: PictureInputProps) {
  return (
    <input
      {...useFieldControl()}
      ref={input}
      type="file"
      accept="image/png,image/jpeg"
      disabled={disabled}
      tabIndex={-1}
      className="sr-only"
      onChange={({ target }) =>
        void onFile(target.files?.[0]).then(() => {
          // The same file can be chosen again.
          target.value = ''
        })
      }
    />
  )
}

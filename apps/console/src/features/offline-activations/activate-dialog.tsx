import type { Client, DataOf, endpoints } from '@keyward/contract'
import { offlineActivations } from '@keyward/contract/offline-activations'
import { normalizeCrockford, readOfflineRequest } from '@keyward/contract/offline-request'
import { Download, FileUp } from 'lucide-react'
import { type ChangeEvent, useState } from 'react'
import { serverNow } from '../../lib/api/server-time.ts'
import { saveFile } from '../../lib/browser/save-file.ts'
import { useSchemaForm, useSubmit } from '../../lib/form/schema-form.ts'
import { addDuration } from '../../lib/format/dates.ts'
import { endUserName } from '../../lib/format/end-user-name.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DateText } from '../../ui/date.tsx'
import { Dialog, DialogBody, DoneFooter } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { NumberInput, Textarea } from '../../ui/input.tsx'
import { Callout } from '../../ui/states.tsx'
import { endOfFile } from './file.ts'
import { useActivateOffline } from './queries.ts'

type Issued = DataOf<(typeof endpoints)['offlineActivations']['activate']>

const schema = offlineActivations.activate.body!
/** Longer files are no requests. */
const fileSizeMax = 16_384

export interface MachineOwner {
  app: { _id: string; name: string }
  /** The end user whose machines are shown and activated; without it, the machines of the whole app. */
  user?: Pick<Client, '_id' | 'username' | 'licenseKey'> & { knownAs?: string | null | undefined }
}

interface Props extends MachineOwner {
  onClose: () => void
}

/** Two steps: the request with what it does, then the file. */
export function ActivateDialog({ app, user, onClose }: Props) {
  const [issued, setIssued] = useState<Issued>()
  const activate = useActivateOffline(app._id)
  const form = useSchemaForm(schema, { defaultValues: { request: '', days: undefined } })
  const { errors } = form.formState
  const [text, days] = form.watch(['request', 'days'])

  const onFailure = (error: unknown) => toastFailure(error, 'Failed to activate the machine')
  const submit = useSubmit({ form, onFailure }, (body) => activate.mutateAsync(body).then(setIssued))

  async function choose({ target }: ChangeEvent<HTMLInputElement>) {
    const file = target.files?.[0]
    target.value = ''
    if (!file) return
    if (file.size > fileSizeMax) {
      form.setError('request', { message: 'This file is too large for an activation request' })
      return
    }
    form.setValue('request', (await file.text()).trim(), { shouldValidate: true, shouldTouch: true })
  }

  if (issued) return <FileDialog issued={issued} onClose={onClose} />
  return (
    <FormDialog
      onClose={onClose}
      busy={activate.isPending}
      size="lg"
      title="Activate Offline"
      description={`For a machine with ${app.name} that is never online. Its program shows a request that starts with KWR1.`}
      onSubmit={submit}
      submitLabel="Create File"
    >
      <Field
        label="Request"
        hint="Paste the text, the content of its QR code, or type it: upper and lower case, blanks and dashes do not matter."
        error={errors.request?.message}
        action={
          <label className="cursor-pointer rounded-sm text-[0.8125rem] text-accent-text hover:underline has-focus-visible:outline-2 has-focus-visible:outline-accent-text">
            <FileUp aria-hidden className="mr-1 inline size-3.5" />
            Choose a File
            <input type="file" accept=".txt,.kwr,text/plain" className="sr-only" onChange={choose} />
          </label>
        }
      >
        <Textarea
          rows={4}
          className="break-all font-mono md:text-[0.8125rem]"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          placeholder="KWR1-…"
          {...form.register('request')}
        />
      </Field>
      <Field
        label="Days"
        optional
        hint="How long the file works at most. Without it, until the license ends."
        error={errors.days?.message}
      >
        <NumberInput
          className="md:max-w-40"
          {...form.register('days', {
            setValueAs: (value: string | number | undefined) =>
              value === '' || value === undefined ? undefined : Number(value),
          })}
        />
      </Field>
      <Preview text={text} days={days} user={user} />
    </FormDialog>
  )
}

interface PreviewProps {
  text: string
  days: number | undefined
  user: MachineOwner['user']
}

/** What the request asks for, as far as the text says it; the server checks it. */
function Preview({ text, days, user }: PreviewProps) {
  const request = text === '' ? undefined : readOfflineRequest(text)
  const isAnother =
    user !== undefined &&
    request !== undefined &&
    user.licenseKey !== null &&
    normalizeCrockford(request.licenseKey) !== normalizeCrockford(user.licenseKey)
  const isValid = days !== undefined && schema.shape.days.safeParse(days).success
  return (
    <div aria-live="polite" className="grid gap-3">
      {request && (
        <div className="rounded-lg border px-4 py-1">
          <Facts
            items={[
              { label: 'License key', value: <bdi className="font-mono">{request.licenseKey}</bdi> },
              { label: 'Machine', value: <code>{request.hwidHash.slice(0, 8)}</code> },
              { label: 'Takes', value: 'One device of the license. An unused key is used.' },
              {
                label: 'File ends',
                value: isValid ? (
                  <>
                    <DateText value={addDuration(serverNow(), days, 'days')} />, or with the license
                  </>
                ) : (
                  'With the license'
                ),
              },
            ]}
          />
        </div>
      )}
      {isAnother && (
        <Callout tone="warning">
          {`The request names another key than that of ${endUserName(user)}. The file will be for its end user.`}
        </Callout>
      )}
      <p className="text-[0.8125rem] text-fg-muted">
        A file cannot be taken back: a ban or a change of the license reaches the machine only when it goes
        online, or when the file ends.
      </p>
    </div>
  )
}

function FileDialog({ issued, onClose }: { issued: Issued; onClose: () => void }) {
  const { file, activation } = issued
  const name = `activation-${activation.hwidHash.slice(0, 8)}.kwa`
  return (
    <Dialog
      onClose={onClose}
      size="lg"
      title="The File Is Ready"
      description="Copy it to the machine and open it in the program. It works only on that machine, and only once."
    >
      <DialogBody>
        <div className="rounded-lg border px-4 py-1">
          <Facts
            items={[
              { label: 'End user', value: <bdi>{activation.client.name ?? 'Unnamed'}</bdi> },
              { label: 'Runs until', value: <DateText value={endOfFile(file)} none="Never ends" /> },
            ]}
          />
        </div>
        <Field label="File">
          <Textarea
            readOnly
            rows={6}
            value={file}
            spellCheck={false}
            className="break-all font-mono md:text-[0.8125rem]"
          />
        </Field>
        <p className="text-[0.8125rem] text-fg-muted">
          Entering the same request again makes the file again. To move the license to another machine,
          deactivate this one in its program and enter the code here.
        </p>
      </DialogBody>
      <DoneFooter onDone={onClose}>
        <CopyButton text={file} label="Copy file" message="File copied to clipboard">
          Copy
        </CopyButton>
        <Button onClick={() => saveFile(name, [file], 'text/plain; charset=utf-8')}>
          <Download />
          Download
        </Button>
      </DoneFooter>
    </Dialog>
  )
}

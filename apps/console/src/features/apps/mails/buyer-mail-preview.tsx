import { type App, customerPageAddress } from '@keyward/contract'
import { renderMail } from '@keyward/contract/app-mail-text'
import { useDeferredValue, useState } from 'react'
import { base } from '../../../lib/navigation/base.ts'
import { Tabs } from '../../../ui/tabs.tsx'
import type { Face } from '../customers/profile-queries.ts'
import { type Named, useMailSample } from './buyer-mail-queries.ts'

const invented = ({ locale }: Named) => ({
  ...{ keys: ['TEST-XXXX-XXXX-XXXX'], name: 'Ada Lovelace', order: '1001', type: 'Pro', version: '1.0.1' },
  end: new Intl.DateTimeFormat(locale ?? 'en', { dateStyle: 'long' }).format(Date.now() + 14 * 86_400_000),
  ...{
    summary: 'What was repaired.',
    renew: 'https://example.com/renew',
    link: 'https://example.com/security',
  },
})

export interface BuyerMailPreviewProps {
  app: App
  named: Named
  mail: { subject: string; text: string; html: string; fromName: string }
  face: Face
  title?: string
}

/** A mail as a person gets it: of a license of the app, or with invented values. */
export function BuyerMailPreview({ app, named, mail, face, title = 'Preview' }: BuyerMailPreviewProps) {
  const [form, setForm] = useState('text')
  const { subject, text, html, fromName } = useDeferredValue(mail)
  const page = app.settings.customerPage
    ? customerPageAddress(`${window.location.origin}${base}`, app.appId)
    : null
  const sample = useMailSample(named)
  const rendered = renderMail(
    { subject, text, html: html.trim() === '' ? null : html },
    { ...invented(named), app: app.name, page, ...sample?.values },
  )
  const lines = [face.name, face.support, face.shop].filter((line) => line !== null)
  const letter = (
    <div className="min-h-40 p-4">
      {face.logo && <img src={face.logo} alt="The logo" className="mb-4 max-h-16 max-w-60" />}
      <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
        {[rendered.text, ...(lines.length > 0 ? ['', ...lines] : [])].join('\n')}
      </p>
    </div>
  )
  return (
    <section aria-label={title} className="grid min-w-0 grid-cols-1 content-start gap-2">
      <h3 className="font-medium">{title}</h3>
      {named.kind !== 'purchase' && (
        <p className="wrap-anywhere text-[0.8125rem] text-fg-muted">
          {sample ? `As ${sample.to} would get it for ${sample.license.key}.` : 'With invented values.'}
        </p>
      )}
      <div className="overflow-hidden rounded-lg border bg-surface">
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 border-b px-4 py-3 text-[0.8125rem]">
          <dt className="text-fg-muted">From</dt>
          <dd className="wrap-anywhere">{fromName.trim() || (face.name ?? app.name)}</dd>
          <dt className="text-fg-muted">Subject</dt>
          <dd dir="auto" className="wrap-anywhere font-medium">
            {rendered.subject}
          </dd>
        </dl>
        {rendered.html === null ? (
          letter
        ) : (
          <Tabs
            label="Form of the mail"
            value={form}
            onChange={setForm}
            tabs={[
              { value: 'text', label: 'Text', content: letter },
              {
                value: 'html',
                label: 'HTML',
                content: (
                  <>
                    {/* No script of it runs, and no link leads anywhere. */}
                    <iframe
                      title="HTML of the mail"
                      sandbox=""
                      srcDoc={rendered.html}
                      className="block h-96 w-full bg-white"
                    />
                    <p className="border-t px-4 py-2 text-[0.8125rem] text-fg-muted">
                      Images from elsewhere show in the test alone.
                    </p>
                  </>
                ),
              },
            ]}
          />
        )}
      </div>
    </section>
  )
}

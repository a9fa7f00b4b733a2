import type { App, Profile } from '@keyward/contract'
import { useEffect, useRef, useState } from 'react'
import { May } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { base } from '../../../lib/navigation/base.ts'
import { Card, CardBody, CardHeader } from '../../../ui/card.tsx'
import { Select } from '../../../ui/select.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { BuyerMailPreview } from '../mails/buyer-mail-preview.tsx'
import { useBuyerMail } from '../mails/buyer-mail-queries.ts'
import { SettingsForm } from '../settings/settings-form.tsx'
import { languageName } from '../texts/languages.ts'
import { CustomerPageSettings } from './customer-page-settings.tsx'
import { ProfileCard } from './profile-card.tsx'
import { type Face, faceOf, useProfile } from './profile-queries.ts'

/** The languages of the customer's page and of the default mails. */
const languages = ['en', 'de', 'es', 'pt', 'zh']

/** What customers of an app see of the vendor, and how that looks before it is saved. */
export function CustomersTab({ app }: { app: App }) {
  const vendors = useProfile().data
  const [written, setWritten] = useState<Profile>()
  const [language, setLanguage] = useState('en')
  const named = { id: app._id, kind: 'purchase', locale: language } as const
  const mail = useBuyerMail(named).data?.mail
  const face = faceOf(app, written, vendors)
  return (
    <div className="grid grid-cols-1 gap-4 md:gap-6">
      <ProfileCard app={app} vendors={vendors} onChange={setWritten} />
      <May call={wire.apps.update}>
        <SettingsForm app={app} tab="customers" title="Customer Page">
          {(props) => <CustomerPageSettings app={app} {...props} />}
        </SettingsForm>
      </May>
      <Card aria-label="What Customers See">
        <CardHeader
          title="What Customers See"
          description="With what is written above, also before it is saved."
        />
        <CardBody className="grid grid-cols-1 gap-4">
          <div className="max-w-60">
            <Select
              label="Language"
              value={language}
              onChange={setLanguage}
              options={languages.map((value) => ({ value, label: languageName(value) }))}
            />
          </div>
          <div className="grid grid-cols-1 gap-4 lg:grid-cols-2 lg:gap-6">
            <PagePreview app={app} face={face} language={language} />
            {mail ? (
              <BuyerMailPreview
                title="Mail to buyers"
                app={app}
                named={named}
                face={face}
                mail={{ ...mail, html: mail.html ?? '', fromName: mail.fromName ?? '' }}
              />
            ) : (
              <Skeleton className="h-96" />
            )}
          </div>
        </CardBody>
      </Card>
    </div>
  )
}

/** The customer's page in a frame, with the unsaved profile. */
function PagePreview({ app, face, language }: { app: App; face: Face; language: string }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [isLoaded, setIsLoaded] = useState(false)
  const { name, support, shop, logo } = face
  const tell = () =>
    frame.current?.contentWindow?.postMessage(
      { vendor: name ?? app.name, support, shop, logo },
      window.location.origin,
    )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the frame gets the profile after each change
  useEffect(() => {
    if (isLoaded) tell()
  }, [isLoaded, name, support, shop, logo])
  const isOn = app.settings.customerPage
  const address = `${base}/u/${app.appId}?language=${language}`
  return (
    <section aria-label="Customer’s page" className="grid min-w-0 grid-cols-1 content-start gap-2">
      <h3 className="font-medium">Customer’s page</h3>
      {isOn ? (
        <iframe
          key={language}
          ref={frame}
          title="Customer’s page"
          src={address}
          onLoad={() => {
            setIsLoaded(true)
            tell()
          }}
          className="block h-120 w-full rounded-lg border bg-white"
        />
      ) : (
        <p className="rounded-lg border bg-sunken/50 p-4 text-fg-muted">
          The customer’s page of this app is off. Turn it on above, under Customer Page.
        </p>
      )}
    </section>
  )
}

import { type ActivityEvent, customerPageAddress, type ListedLicense } from '@keyward/contract'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Link } from 'react-router'
import { LastRefusal, Part } from '../../features/activity/last-refusal.tsx'
import { useLastRefusal } from '../../features/activity/queries.ts'
import { answerFor, answerLanguages } from '../../features/command/answer.ts'
import { languageOf, type MailLanguage, readTicket } from '../../features/command/ticket.ts'
import { useTicketSearches } from '../../features/command/ticket-searches.ts'
import { useCustomer } from '../../features/customers/queries.ts'
import { Devices } from '../../features/end-users/devices.tsx'
import { KeyMail } from '../../features/licenses/key-mail.tsx'
import { LicenseDialog } from '../../features/licenses/license-dialogs.tsx'
import { LicenseMenu } from '../../features/licenses/license-menu.tsx'
import { useLicense } from '../../features/licenses/queries.ts'
import { statusFacts } from '../../features/licenses/status.ts'
import { useApp } from '../../lib/api/apps.ts'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { base } from '../../lib/navigation/base.ts'
import { customerPath, licensePath, listPath, paths } from '../../lib/navigation/paths.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog, DialogBody, DialogFooter } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { KeyText } from '../../ui/key-text.tsx'
import { Select } from '../../ui/select.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'

export interface TicketDialogProps {
  mail: string
  /** The address of the signed-in person, which is no customer's. */
  own: string
  onClose: () => void
}

const linkClass = 'wrap-anywhere rounded-sm underline-offset-4 hover:underline'

/** What a customer's mail names, why its program was refused last, the click that helps, and an answer to copy. */
export function TicketDialog({ mail, own, onClose }: TicketDialogProps) {
  const ticket = useMemo(() => readTicket(mail, [own]), [mail, own])
  const searches = useTicketSearches(ticket)
  const hits = searches.map(({ query }) => query.data ?? {})
  const isSearching = searches.some(({ query }) => query.isPending)
  const found = {
    customer: hits.flatMap(({ customers = [] }) => customers)[0]?._id,
    license: hits.flatMap(({ licenses = [] }) => licenses)[0]?._id,
    order: hits.flatMap(({ orders = [] }) => orders)[0]?.licenses[0]?._id,
    reference: searches.find(({ query }) => query.data?.isKnown)?.value,
  }
  const customer = useCustomer(found.customer ?? null)
  const license = found.license ?? found.order ?? customer.data?.licenses?.[0]?._id
  const last = useLastRefusal(found.reference === undefined ? license : undefined)
  const reference = found.reference ?? last.data?.reference
  const isReady = !isSearching && !customer.isLoading
  return (
    <Dialog
      onClose={onClose}
      size="lg"
      title="A customer’s mail"
      description="Your browser read it. Only what is listed here was sent to the server, as searches, and nothing is stored."
    >
      <DialogBody tabIndex={0} role="region" aria-label="What the mail names">
        {searches.length === 0 && <p>It names no address, license key, order or reference.</p>}
        {searches.length > 0 && (
          <dl className="divide-y">
            {searches.map((search) => (
              <Named key={`${search.kind} ${search.value}`} {...search} onFollow={onClose} />
            ))}
          </dl>
        )}
        {reference && (
          <LastRefusal key={reference} reference={reference}>
            {(event, isSolved) => <Answer event={event} isSolved={isSolved} mail={mail} />}
          </LastRefusal>
        )}
        {isReady && license && !reference && last.isSuccess && (
          <p className="text-fg-muted">The program of this license was not refused lately.</p>
        )}
        {license && <LicenseActions id={license} onFollow={onClose} />}
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>Close</Button>
      </DialogFooter>
    </Dialog>
  )
}

type NamedProps = ReturnType<typeof useTicketSearches>[number] & { onFollow: () => void }

/** One value of the mail, with links to what has it. */
function Named({ kind, value, label, query, onFollow }: NamedProps) {
  const { customers = [], licenses = [], orders = [], isKnown } = query.data ?? {}
  const links = [
    ...customers.map(({ _id, email, name }) => ({
      to: customerPath(_id),
      text: name ? `${email} · ${name}` : email,
    })),
    ...licenses.map((one) => ({ to: licensePath(one._id), text: licenseText(one) })),
    ...orders.map(({ _id, order, email }) => ({
      to: listPath(paths.orders, { search: order, dialog: 'order', id: _id }),
      text: [order, email].filter(Boolean).join(' · '),
    })),
    ...(isKnown ? [{ to: `${paths.activity}?dialog=explain&id=${value}`, text: 'Why it was refused' }] : []),
  ]
  return (
    <div className="grid gap-1 py-2.5 md:grid-cols-[6rem_1fr]">
      <dt className="text-fg-muted">{label}</dt>
      <dd className="grid min-w-0 gap-1">
        {!links.some(({ text }) => text.startsWith(value)) && (
          <span className="wrap-anywhere">
            {kind === 'key' ? <KeyText>{value}</KeyText> : <bdi>{value}</bdi>}
          </span>
        )}
        {query.isPending && <Skeleton className="h-5 w-40" />}
        {query.isError && <span className="text-danger-text">Failed to search for it.</span>}
        {query.isSuccess && links.length === 0 && <span className="text-fg-muted">Not found</span>}
        {links.map(({ to, text }) => (
          <Link key={to} to={to} onClick={onFollow} className={linkClass}>
            {text}
          </Link>
        ))}
      </dd>
    </div>
  )
}

const licenseText = ({ app, type, usedBy }: ListedLicense) =>
  [app.name, type?.name, usedBy?.name].filter(Boolean).join(' · ')

/** What helps most with a license: extend, ban, mail the key, free a device. */
function LicenseActions({ id, onFollow }: { id: string; onFollow: () => void }) {
  const { data: license } = useLicense(id)
  const [dialog, setDialog] = useState<string>()
  const may = useMay()
  // The mail with the key goes to whom the license was sold, who may be another than the sender of the pasted one.
  const customer = useCustomer((may(wire.customers.get) && license?.customer) || null).data?.customer
  if (!license) return <Skeleton className="h-20" />
  const { usedBy } = license
  return (
    <Part title="License">
      <div className="flex flex-wrap items-center gap-2">
        <Link to={licensePath(id)} onClick={onFollow} className={linkClass}>
          <KeyText>{license.key}</KeyText>
        </Link>
        <StateBadge {...statusFacts[license.status]} />
        <span className="ml-auto flex items-center gap-2">
          {license.expiresAt !== null && !license.banned && may(wire.licenses.update) && (
            <Button size="sm" onClick={() => setDialog('extend')}>
              Extend License
            </Button>
          )}
          <LicenseMenu license={license} onAction={setDialog} />
        </span>
      </div>
      {license.customer && (
        <Facts
          items={[{ label: 'Mail with the key', value: <KeyMail license={license} to={customer?.email} /> }]}
        />
      )}
      {usedBy && (
        <May call={wire.clients.devices}>
          <Devices user={usedBy._id} />
        </May>
      )}
      <LicenseDialog kind={dialog} license={license} onClose={() => setDialog(undefined)} />
    </Part>
  )
}

/** An answer in the customer's language. It is copied, never sent. */
function Answer({ event, isSolved, mail }: { event: ActivityEvent; isSolved: boolean; mail: string }) {
  const [language, setLanguage] = useState<MailLanguage>(() => languageOf(mail))
  const { app } = useApp(event.app?._id)
  const page = app?.settings.customerPage
    ? customerPageAddress(`${window.location.origin}${base}`, app.appId)
    : undefined
  const { code } = event
  const answer = useQuery({
    queryKey: ['answer', language, code, isSolved, page],
    queryFn: () => (code ? answerFor(language, { code, isSolved, page }) : ''),
  })
  if (!code) return null
  return (
    <Part title="Answer">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Select
          label="Language"
          value={language}
          onChange={(next) => setLanguage(next as MailLanguage)}
          options={answerLanguages}
          className="w-40"
        />
        <CopyButton text={answer.data ?? ''} label="Copy Answer" message="Answer copied to clipboard">
          Copy Answer
        </CopyButton>
      </div>
      <p className="wrap-anywhere whitespace-pre-line rounded-lg border bg-sunken p-3" lang={language}>
        {answer.data}
      </p>
    </Part>
  )
}

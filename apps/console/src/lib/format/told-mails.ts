import type { CustomerMail, MailKind } from '@keyward/contract'

/** What each mail to a customer is called. */
export const mailKindLabels: Record<MailKind | 'link', string> = {
  purchase: 'License keys',
  renewed: 'License renewed',
  endsSoon: 'License ends soon',
  ended: 'License has ended',
  paymentFailed: 'Payment failed',
  updatesEndSoon: 'Updates end soon',
  security: 'Security update',
  link: 'Link to the customer page',
}

export const mailStates: Record<
  CustomerMail['state'],
  { label: string; tone: 'success' | 'warning' | 'danger' | 'neutral' }
> = {
  queued: { label: 'Queued', tone: 'warning' },
  waiting: { label: 'Waits for Its Turn', tone: 'warning' },
  sent: { label: 'Sent', tone: 'success' },
  failed: { label: 'Failed', tone: 'danger' },
  expired: { label: 'Expired', tone: 'danger' },
  missed: { label: 'Missed', tone: 'danger' },
  dropped: { label: 'Not Needed', tone: 'neutral' },
}

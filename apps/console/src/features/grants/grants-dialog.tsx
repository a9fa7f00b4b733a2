import { limits } from '@keyward/contract'
import { Link } from 'react-router'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { formatDate } from '../../lib/format/dates.ts'
import { noDateText } from '../../lib/format/ending.ts'
import { licensePath, listPath, paths } from '../../lib/navigation/paths.ts'
import { Dialog, DialogBody } from '../../ui/dialog.tsx'
import { Timeline } from '../../ui/timeline.tsx'
import { type Granted, type GrantWords, grantWords } from './words.ts'

export interface GrantsDialogProps {
  title: string
  granted: Granted
  onClose: () => void
}

/** Explains an end by what was granted, newest first. */
export function GrantsDialog({ title, granted, onClose }: GrantsDialogProps) {
  const { expiresAt } = granted
  const end = expiresAt === null ? noDateText(granted) : formatDate(expiresAt)
  const words = grantWords(granted)
  const order = words.length < limits.grantsMax ? 'Newest first.' : `The newest ${limits.grantsMax}.`
  return (
    <Dialog onClose={onClose} title={title} description={`Expires: ${end}. ${order}`}>
      {/* Focusable, so that the keyboard scrolls it. */}
      <DialogBody tabIndex={0} role="region" aria-label="What was granted" className="-outline-offset-2">
        <Timeline
          events={words
            .map((one) => ({
              at: one.at,
              text: <Sentence {...one} here={granted._id} />,
              lines: one.notes,
              tone: one.isWithdrawn ? ('warning' as const) : undefined,
            }))
            .reverse()}
        />
      </DialogBody>
    </Dialog>
  )
}

function Sentence({ text, source, isWithdrawn, here }: GrantWords & { here: string }) {
  const [before, after] = text.split('{source}')
  const Element = isWithdrawn ? 's' : 'span'
  return (
    <Element className={isWithdrawn ? 'text-fg-muted' : undefined}>
      {before}
      {after !== undefined && <Source {...source} here={here} />}
      {after}
    </Element>
  )
}

/** Links to what has a page of its own, but for the page that is open. */
function Source({ kind, _id, name, here }: GrantWords['source'] & { here: string }) {
  const may = useMay()
  const to =
    kind === 'order' && name && may(wire.orders.list)
      ? listPath(paths.orders, { search: name })
      : kind === 'key' && _id && _id !== here && may(wire.licenses.get)
        ? licensePath(_id)
        : undefined
  const shown = <bdi>{kind === 'key' ? `${name}…` : name}</bdi>
  if (!to) return shown
  return (
    <Link to={to} className="rounded-sm text-accent-text underline-offset-4 hover:underline">
      {shown}
    </Link>
  )
}

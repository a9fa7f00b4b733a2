import type { EventName } from '@keyward/contract/event-types'
import { ChevronRight } from 'lucide-react'
import { useId } from 'react'
import { useOwner } from '../../lib/api/account.ts'
import { amountOf } from '../../lib/format/words.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Choice } from '../../ui/choice.tsx'
import { type EventGroup, eventGroups, eventLabel } from './event-words.ts'

type Chosen = ('*' | EventName)[]

export interface EventsFieldProps {
  /** Names, or `*` alone for all. */
  value: readonly string[]
  onChange: (events: Chosen) => void
  error: string | undefined
}

/** All events, or some of each group. */
export function EventsField({ value, onChange, error }: EventsFieldProps) {
  const permissions = useOwner().data?.permissions
  const isReadable = ({ permission }: EventGroup) => permissions?.includes(permission) ?? true
  const unreadable = eventGroups.filter((group) => !isReadable(group))
  const all = value.includes('*')
  return (
    <div className="grid gap-2">
      <p aria-hidden className="font-medium">
        Events
      </p>
      <Choice
        label="Events"
        value={all ? 'all' : 'some'}
        onChange={(next) => onChange(next === 'all' ? ['*'] : [])}
        options={[
          { value: 'all', label: 'All events' },
          { value: 'some', label: 'Some events' },
        ]}
      />
      {all && (
        <p className="text-[0.8125rem] text-fg-muted">
          Also kinds that Keyward adds later.
          {unreadable.length > 0 &&
            ` Your role does not read these, so they are not sent: ${unreadable.map(({ label }) => label).join(', ')}.`}
        </p>
      )}
      {!all && (
        <ul aria-label="Kinds of events" className="divide-y rounded-lg border">
          {eventGroups.map((group) => (
            <Group
              key={group.label}
              group={group}
              readable={isReadable(group)}
              value={value}
              onChange={onChange}
            />
          ))}
        </ul>
      )}
      {error && (
        <p role="alert" className="text-[0.8125rem] text-danger-text">
          {error}
        </p>
      )}
    </div>
  )
}

interface GroupProps extends Omit<EventsFieldProps, 'error'> {
  group: EventGroup
  readable: boolean
}

function Group({ group: { label, events }, readable, value, onChange }: GroupProps) {
  const id = useId()
  const count = events.filter((name) => value.includes(name)).length
  const toggle = (names: readonly EventName[], checked: boolean) => {
    const others = (value as Chosen).filter((name) => !names.includes(name as EventName))
    onChange(checked ? [...others, ...names] : others)
  }
  return (
    <li className="flex gap-3 px-3">
      <div className="pt-2.5">
        <Checkbox
          label={label}
          checked={count === events.length || (count > 0 && 'indeterminate')}
          onChange={(checked) => toggle(events, checked)}
        />
      </div>
      <details className="group min-w-0 flex-1">
        <summary className="flex cursor-pointer list-none items-center gap-2 rounded-md py-2 [&::-webkit-details-marker]:hidden">
          <span className="min-w-0 flex-1">
            {label}
            {!readable && (
              <span className="block text-fg-muted text-xs">Your role does not read these: not sent.</span>
            )}
          </span>
          <span className="text-fg-muted text-xs tabular-nums">
            {count > 0 ? `${count} of ${events.length}` : amountOf(events.length, 'event')}
          </span>
          <ChevronRight
            aria-hidden
            className="size-4 shrink-0 text-fg-muted transition-transform group-open:rotate-90"
          />
        </summary>
        <ul className="grid pb-2 sm:grid-cols-2 sm:gap-x-4">
          {events.map((name) => (
            <li key={name}>
              <label
                htmlFor={`${id}-${name}`}
                title={name}
                className="flex cursor-pointer items-center gap-2 py-1 text-[0.8125rem]"
              >
                <input
                  type="checkbox"
                  id={`${id}-${name}`}
                  checked={value.includes(name)}
                  onChange={(event) => toggle([name], event.target.checked)}
                  className="size-4 shrink-0 accent-accent"
                />
                {eventLabel(name)}
              </label>
            </li>
          ))}
        </ul>
      </details>
    </li>
  )
}

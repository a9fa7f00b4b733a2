import { type ActionName, actionLabels } from '@keyward/contract'

interface Named {
  kind: string
  _id: string
  name: string | null
}

interface Event {
  type: string
  timestamp: string
  data: { actor: Named; subject: Named | null; detail: Record<string, unknown> | null }
}

/** Discord accepts 25 fields of 1024 characters, and 6000 characters in all. */
const fieldsMax = 12
const textMax = 300

const labels: Readonly<Record<string, string>> = {
  'program.refused': 'Program refused',
  'webhook.test': 'Test event',
}

/** The message that a channel of Discord shows for an event. */
export function toDiscord(body: string): string {
  const { type, timestamp, data } = JSON.parse(body) as Event
  const fields = [
    ...(data.subject ? [toField(data.subject.kind, nameOf(data.subject))] : []),
    toField('by', `${data.actor.kind} ${nameOf(data.actor)}`),
    ...Object.entries(data.detail ?? {}).map(([name, value]) =>
      toField(name, typeof value === 'string' ? value : JSON.stringify(value)),
    ),
  ]
  return JSON.stringify({
    embeds: [
      {
        title: labels[type] ?? actionLabels[type as ActionName] ?? 'Event',
        timestamp,
        fields: fields.slice(0, fieldsMax),
        footer: { text: type },
      },
    ],
    allowed_mentions: { parse: [] },
  })
}

const nameOf = ({ name, _id }: Named): string => name ?? _id

/** Names are words of our own, such as `reason` or `end_user`. */
const toField = (name: string, value: string) => ({
  name:
    name
      .replaceAll('_', ' ')
      .replace(/[^A-Za-z0-9 ]/g, '')
      .slice(0, 60) || 'value',
  value: asCode(value),
  inline: true,
})

/**
 * Foreign text is shown as code, where Discord knows no links, mentions or formatting. A backtick would end the code, and
 * control characters could turn the direction of the rest of the message.
 */
function asCode(text: string): string {
  const line = text
    .toWellFormed()
    .replaceAll('`', "'")
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
  const characters = [...line]
  const shown = characters.length > textMax ? `${characters.slice(0, textMax).join('')}…` : line
  return `\`${shown || '–'}\``
}

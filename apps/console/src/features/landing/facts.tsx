import { messageDefaults } from '@keyward/contract/messages'

const facts = [
  { value: '125 bits', label: 'of randomness in every license key' },
  { value: '100%', label: 'of verdicts signed with the app’s own key' },
  { value: `${Object.keys(messageDefaults).length}`, label: 'messages that you can change for each app' },
  { value: '0', label: 'outside services needed to run it' },
]

export function Facts() {
  return (
    <section aria-label="Keyward in numbers" className="border-y border-line">
      <dl className="mx-auto grid max-w-6xl grid-cols-2 px-5 sm:px-8 lg:grid-cols-4">
        {facts.map(({ value, label }) => (
          <div key={label} className="flex flex-col-reverse justify-end py-8 pr-6 sm:py-10">
            <dt className="mt-1 text-sm text-fg-muted text-pretty">{label}</dt>
            <dd className="text-3xl font-semibold tracking-tight tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

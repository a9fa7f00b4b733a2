import { Check, Gamepad2, type LucideIcon, Store, Wrench } from 'lucide-react'

const cases: { icon: LucideIcon; title: string; text: string; points: string[] }[] = [
  {
    icon: Wrench,
    title: 'An indie tool',
    text: 'You sell one program from your own site, and each key should run on one computer.',
    points: [
      'A key locks to the first computer that uses it',
      'A customer with a new computer: one click',
      'A few lines in TypeScript, Python, C++ or C#',
    ],
  },
  {
    icon: Store,
    title: 'A reseller network',
    text: 'Partners sell your keys in their own shops, without asking you for each one.',
    points: [
      'A portal of their own, tied to one app',
      'A quota that no reseller can exceed',
      'Every reseller’s keys and customers in your lists',
    ],
  },
  {
    icon: Gamepad2,
    title: 'A game mod',
    text: 'Keys run for a day or a month, and a user who shares one should be out by the next check.',
    points: [
      'Keys for hours, days or months, 100 at a time',
      'A ban takes effect on the program’s next call',
      'One switch pauses everyone during an update',
    ],
  },
]

export function UseCases() {
  return (
    <section aria-labelledby="cases-title" className="py-20 sm:py-28">
      <div className="max-w-2xl">
        <h2 id="cases-title" className="text-3xl font-semibold tracking-tight text-balance">
          Made for the way you sell
        </h2>
        <p className="mt-3 text-lg text-fg-muted text-pretty">
          One server and one console, whether you sell ten keys a year or a thousand a day.
        </p>
      </div>
      <ul className="mt-12 grid gap-4 lg:grid-cols-3 lg:grid-rows-[auto_auto_1fr]">
        {cases.map(({ icon: Icon, title, text, points }) => (
          <li
            key={title}
            className="grid content-start rounded-xl border border-line bg-surface p-6 lg:row-span-3 lg:grid-rows-subgrid lg:gap-y-0"
          >
            <h3 className="flex items-center gap-3 font-semibold text-lg">
              <Icon aria-hidden className="size-5 text-accent-text" />
              {title}
            </h3>
            <p className="mt-3 text-[0.9375rem] leading-6 text-fg-muted text-pretty">{text}</p>
            <ul className="mt-5 grid content-start gap-2.5 border-t border-line pt-5 text-[0.9375rem] leading-6">
              {points.map((point) => (
                <li key={point} className="flex gap-2.5">
                  <Check aria-hidden className="mt-1 size-4 shrink-0 text-success" />
                  {point}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  )
}

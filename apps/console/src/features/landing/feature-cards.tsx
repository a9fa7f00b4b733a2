import {
  Fingerprint,
  HandshakeIcon,
  KeyRound,
  type LucideIcon,
  Pause,
  Play,
  Server,
  Signature,
  Users,
} from 'lucide-react'
import { useState } from 'react'
import { useRotation } from './use-rotation.ts'

const features: { icon: LucideIcon; title: string; text: string }[] = [
  {
    icon: KeyRound,
    title: 'License keys',
    text: 'Generate up to 100 at a time, valid for hours, days or months. Extend, ban or delete each one whenever you need to.',
  },
  {
    icon: Fingerprint,
    title: 'Hardware lock',
    text: 'A license binds to the first machine that uses it. When a customer changes computers, you reset the lock with one click.',
  },
  {
    icon: Signature,
    title: 'Signed answers',
    text: 'Every app has its own Ed25519 key. Your program can tell a real verdict from a forged or replayed one.',
  },
  {
    icon: Users,
    title: 'End users',
    text: 'Customers register themselves with a key. Ban, extend or reset one, and it applies to the next call of the program.',
  },
  {
    icon: HandshakeIcon,
    title: 'Resellers',
    text: 'Give partners their own portal for one app, with a quota that you can change at any time.',
  },
  {
    icon: Server,
    title: 'Your own server',
    text: 'One process with an embedded database, or several with PostgreSQL. Your keys and customers stay with you.',
  },
]

export function FeatureCards() {
  const [paused, setPaused] = useState(false)
  const [engaged, setEngaged] = useState(false)
  const { index, setIndex, still } = useRotation(features.length, paused || engaged)

  return (
    <section
      aria-labelledby="features-title"
      className="py-20 sm:py-28"
      onFocus={() => setEngaged(true)}
      onBlur={() => setEngaged(false)}
    >
      <div className="flex items-end justify-between gap-6">
        <div className="max-w-2xl">
          <h2 id="features-title" className="text-3xl font-semibold tracking-tight text-balance">
            Everything between a sale and a running program
          </h2>
          <p className="mt-3 text-lg text-fg-muted text-pretty">
            Six features that you would otherwise have to build and maintain.
          </p>
        </div>
        {still ? null : (
          <button
            type="button"
            aria-pressed={paused}
            aria-label="Pause the highlight"
            onClick={() => setPaused(!paused)}
            className="grid size-9 shrink-0 place-items-center rounded-md border border-line text-fg-muted hover:text-fg"
          >
            {paused ? <Play aria-hidden className="size-4" /> : <Pause aria-hidden className="size-4" />}
          </button>
        )}
      </div>

      <ul
        className="mt-12 grid gap-4 sm:grid-cols-2 lg:grid-cols-3"
        onPointerEnter={() => setEngaged(true)}
        onPointerLeave={() => setEngaged(false)}
      >
        {features.map(({ icon: Icon, title, text }, position) => {
          const lit = !still && position === index
          return (
            <li
              key={title}
              data-lit={lit}
              onPointerEnter={() => setIndex(position)}
              className="group rounded-xl border border-line bg-surface p-6 transition-[border-color,box-shadow] duration-150 data-[lit=true]:border-accent-text data-[lit=true]:shadow-pop"
            >
              <span className="grid size-10 place-items-center rounded-lg bg-sunken text-fg-muted transition-colors duration-150 group-data-[lit=true]:bg-accent group-data-[lit=true]:text-on-accent">
                <Icon aria-hidden className="size-5" />
              </span>
              <h3 className="mt-5 font-semibold text-base">{title}</h3>
              <p className="mt-2 text-[0.9375rem] leading-6 text-fg-muted text-pretty">{text}</p>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

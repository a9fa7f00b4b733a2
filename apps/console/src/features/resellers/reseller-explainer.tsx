import { KeyRound, LogIn, ShieldCheck } from 'lucide-react'
import { Explainer } from '../../ui/explainer.tsx'

const facts = [
  {
    icon: LogIn,
    title: 'Their own portal',
    text: 'Resellers sign in at a separate address. They see only the name of their app and the licenses they generated.',
  },
  {
    icon: KeyRound,
    title: 'Keys within a quota',
    text: 'They generate keys for one app, up to the limit you set. Deleting a license frees quota.',
  },
  {
    icon: ShieldCheck,
    title: 'Your customers',
    text: 'You keep the licenses and end users when you suspend or delete a reseller.',
  },
]

export function ResellerExplainer({ account, done }: { account: string | undefined; done: boolean }) {
  return (
    <Explainer
      title="What resellers do"
      lead="They sell licenses for your apps on their own."
      topic="resellers"
      account={account}
      done={done}
    >
      <ul className="grid gap-5 border-t px-4 py-5 md:grid-cols-3 md:gap-6 md:px-5">
        {facts.map(({ icon: Icon, title, text }) => (
          <li key={title} className="flex gap-3">
            <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-accent-text" />
            <div className="grid content-start gap-1">
              <h3 className="font-medium">{title}</h3>
              <p className="text-[0.8125rem] text-fg-muted">{text}</p>
            </div>
          </li>
        ))}
      </ul>
    </Explainer>
  )
}

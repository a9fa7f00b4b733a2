import { cx } from './cx.ts'
import { measurePassword } from './password-strength.ts'

const tones = ['', 'bg-danger', 'bg-warning', 'bg-success', 'bg-success']

export function StrengthMeter({ password }: { password: string }) {
  const { score, label, common } = measurePassword(password)
  if (score === 0) return null
  return (
    <div className="-mt-1 grid gap-1.5" aria-live="polite">
      <div className="flex items-center gap-3">
        <div aria-hidden className="grid flex-1 grid-cols-4 gap-1">
          {[1, 2, 3, 4].map((step) => (
            <span key={step} className={cx('h-1 rounded-full', step <= score ? tones[score] : 'bg-hover')} />
          ))}
        </div>
        <span className="w-12 text-right text-fg-muted text-xs">
          <span className="sr-only">Password strength: </span>
          {label}
        </span>
      </div>
      {common && (
        <p className="text-[0.8125rem] text-warning-text">
          This is one of the most common passwords and easy to guess.
        </p>
      )}
    </div>
  )
}

import { ChevronDown } from 'lucide-react'
import { Card } from '../../ui/card.tsx'

const needs = ['A username', 'A password', 'A valid license key', 'System information (the hardware ID)']

/** Explains how end users register, because they have no screen of their own. */
export function RegistrationExplainer() {
  return (
    <Card>
      <details className="group">
        <summary className="flex cursor-pointer list-none items-center justify-between gap-4 rounded-xl px-5 py-4 [&::-webkit-details-marker]:hidden">
          <span className="grid gap-0.5">
            <span className="font-semibold text-[0.9375rem]">How registration works</span>
            <span className="text-fg-muted">End users register themselves, inside your program.</span>
          </span>
          <ChevronDown
            aria-hidden
            className="size-4 shrink-0 text-fg-muted transition-transform group-open:rotate-180"
          />
        </summary>
        <div className="grid gap-6 border-t px-5 py-5 md:grid-cols-2">
          <div>
            <h3 className="font-medium">What your program sends</h3>
            <ul className="mt-2 list-disc space-y-1 pl-5 text-fg-muted">
              {needs.map((need) => (
                <li key={need}>{need}</li>
              ))}
            </ul>
          </div>
          <div>
            <h3 className="font-medium">What happens next</h3>
            <p className="mt-2 text-fg-muted">
              The license must not be expired or already used. Registration marks it as used, the end user
              gets its expiry, and the device is bound while the hardware lock is on. From then on the user
              appears here, where you can ban, extend, reset or delete it.
            </p>
          </div>
        </div>
      </details>
    </Card>
  )
}

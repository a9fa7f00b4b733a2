import { Explainer } from '../../ui/explainer.tsx'

const needs = ['A username', 'A password', 'A valid license key', 'System information (the hardware ID)']

/** Explains how end users register, because they have no screen of their own. */
export function RegistrationExplainer({ account, done }: { account: string | undefined; done: boolean }) {
  return (
    <Explainer
      title="How registration works"
      lead="End users register themselves, inside your program."
      topic="registration"
      account={account}
      done={done}
    >
      <div className="grid gap-6 border-t px-4 py-5 md:grid-cols-2 md:px-5">
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
            The license must not be expired or already used. Registration marks it as used, the end user gets
            its expiry, and the device is bound while the hardware lock is on. From then on the user appears
            here, where you can ban, extend, reset or delete it.
          </p>
        </div>
      </div>
    </Explainer>
  )
}

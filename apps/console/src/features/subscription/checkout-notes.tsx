import { CircleAlert, FlaskConical } from 'lucide-react'
import { Callout } from '../../ui/states.tsx'

/** Warns about simulated payments and explains why the last attempt failed. */
export function CheckoutNotes({ simulated, failure }: { simulated: boolean; failure: string | undefined }) {
  return (
    <>
      {simulated && (
        <Callout tone="warning" icon={<FlaskConical aria-hidden />}>
          <p className="font-medium text-warning-text">
            Development mode: payments are simulated, no money moves
          </p>
        </Callout>
      )}
      {failure && (
        <div role="alert">
          <Callout tone="danger" icon={<CircleAlert aria-hidden />} title="The last attempt failed">
            {failure}
          </Callout>
        </div>
      )}
    </>
  )
}

import { paths, signUpPath } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'

export function Closing() {
  return (
    <section aria-labelledby="closing-title" className="border-t bg-sunken">
      <div className="mx-auto flex max-w-6xl flex-col items-start gap-8 px-5 py-16 sm:px-8 sm:py-20 md:flex-row md:items-center md:justify-between">
        <div className="max-w-xl">
          <h2 id="closing-title" className="font-semibold text-3xl tracking-tight">
            Put your first program behind a license
          </h2>
          <p className="mt-3 text-lg text-fg-muted text-pretty">
            An app, a key and a snippet: it takes about five minutes.
          </p>
        </div>
        <div className="flex flex-wrap gap-3">
          <Button asChild variant="primary" size="lg">
            <a href={signUpPath}>Get started</a>
          </Button>
          <Button asChild size="lg">
            <a href={paths.docs}>Read the API docs</a>
          </Button>
        </div>
      </div>
    </section>
  )
}

const samples = [
  {
    quote:
      'I moved my licensing over on a Sunday afternoon. On Monday a customer changed laptops, and the fix was one click in the console.',
    role: 'A developer of audio plug-ins',
  },
  {
    quote:
      'Our partners make their own keys now, and no partner has ever made one more than we agreed on. I stopped keeping the spreadsheet.',
    role: 'A small studio with four resellers',
  },
  {
    quote:
      'Somebody put a fake license server in front of our tool. The tool read the signature, said no, and that was the whole incident.',
    role: 'A maker of engineering software',
  },
]

export function Testimonials() {
  return (
    <section aria-labelledby="testimonials-title" className="py-20 sm:py-28">
      <div className="max-w-2xl">
        <p className="inline-flex items-center rounded-full border border-line px-3 py-1 text-xs font-medium text-fg-muted">
          Sample testimonials
        </p>
        <h2 id="testimonials-title" className="mt-4 text-3xl font-semibold tracking-tight text-balance">
          What changes for a vendor
        </h2>
        <p className="mt-3 text-lg text-fg-muted text-pretty">
          Illustrative quotes that show what vendors use Keyward for.
        </p>
      </div>
      <ul className="mt-12 grid gap-4 lg:grid-cols-3">
        {samples.map(({ quote, role }) => (
          <li key={role}>
            <figure className="flex h-full flex-col rounded-xl border border-line bg-surface p-6">
              <blockquote className="mb-6 text-[0.9375rem] leading-7 text-pretty">{quote}</blockquote>
              <figcaption className="mt-auto flex items-center justify-between gap-4 border-t border-line pt-4 text-sm text-fg-muted">
                {role}
                <span className="rounded bg-sunken px-1.5 py-0.5 text-xs font-medium">Sample</span>
              </figcaption>
            </figure>
          </li>
        ))}
      </ul>
    </section>
  )
}

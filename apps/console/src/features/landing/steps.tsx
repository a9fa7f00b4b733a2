const steps = [
  {
    title: 'Create an app',
    text: 'It gets its own id, secret and signing key, in a snippet that is ready to copy.',
  },
  {
    title: 'Generate keys',
    text: 'Choose how many and for how long. Copy them all, hand them out, or let a reseller do it.',
  },
  {
    title: 'Ask for the verdict',
    text: 'Paste the snippet into your program. After the first activation you see who uses which license.',
  },
]

export function Steps() {
  return (
    <section aria-labelledby="steps-title" className="py-20 sm:py-28">
      <h2 id="steps-title" className="text-3xl font-semibold tracking-tight text-balance">
        From nothing to a licensed program
      </h2>
      <ol className="mt-12 grid gap-10 sm:grid-cols-3 sm:gap-8">
        {steps.map(({ title, text }, index) => (
          <li key={title} className="border-t border-line-strong pt-5">
            <span aria-hidden className="font-mono text-sm text-accent-text">
              {index + 1}
            </span>
            <h3 className="mt-2 font-semibold text-base">{title}</h3>
            <p className="mt-2 text-[0.9375rem] leading-6 text-fg-muted text-pretty">{text}</p>
          </li>
        ))}
      </ol>
    </section>
  )
}

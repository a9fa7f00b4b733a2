const curl = `curl $KEYWARD/api/apps --json '{ "name": "Tally" }' \\
  -H "Authorization: Bearer $TOKEN"`

const steps = [
  {
    title: 'Create an app',
    text: 'One field in the console, or one call. It gets its own ID, secret and signing key.',
    file: 'Terminal',
    code: curl,
  },
  {
    title: 'Generate keys',
    text: 'Choose how many and for how long. Copy them all, hand them out, or let a reseller do it.',
    file: 'Terminal',
    code: `curl $KEYWARD/api/licenses -H "Authorization: Bearer $TOKEN" \\
  --json '{ "app": "k3yw4rd1", "count": 10, "expiresAt": "2030-12-31" }'`,
  },
  {
    title: 'Ask for the verdict',
    text: 'The console fills your values into this snippet. After the first activation you see who uses which license.',
    file: 'main.js',
    code: `import { Keyward } from '@keyward/sdk'

const keyward = new Keyward({ baseUrl, appId, secret, publicKeys, version })
const verdict = await keyward.license(key)
if (!verdict.ok) quit(verdict.message)

// later, before each piece of work
const check = await keyward.session()
if (!check.ok) quit(check.message) // banned, expired, another machine`,
  },
]

export function Steps() {
  return (
    <section aria-labelledby="steps-title" className="py-20 sm:py-28">
      <h2 id="steps-title" className="text-3xl font-semibold tracking-tight text-balance">
        From nothing to a licensed program in five minutes
      </h2>
      <p className="mt-3 max-w-2xl text-lg text-fg-muted text-pretty">
        SDKs for TypeScript, Python, C++ and C#. Programs in any other language speak the documented protocol.
      </p>
      <ol className="mt-12 grid gap-8">
        {steps.map(({ title, text, file, code }, index) => (
          <li
            key={title}
            className="grid gap-5 border-t border-line pt-8 lg:grid-cols-[minmax(0,20rem)_minmax(0,1fr)] lg:gap-12"
          >
            <div>
              <h3 className="flex gap-3 font-semibold text-base">
                <span aria-hidden className="font-mono text-accent-text">
                  {index + 1}
                </span>
                {title}
              </h3>
              <p className="mt-2 text-[0.9375rem] leading-6 text-fg-muted text-pretty">{text}</p>
            </div>
            <figure className="min-w-0 overflow-hidden rounded-xl border border-line bg-surface">
              <figcaption className="border-b border-line px-5 py-2 font-mono text-fg-muted text-xs">
                {file}
              </figcaption>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
              <pre tabIndex={0} className="overflow-x-auto px-5 py-4 font-mono text-[0.8125rem] leading-6">
                <code>{code}</code>
              </pre>
            </figure>
          </li>
        ))}
      </ol>
    </section>
  )
}

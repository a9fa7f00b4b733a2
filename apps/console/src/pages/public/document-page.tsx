import { type ReactNode, useEffect } from 'react'
import { usePageMeta } from './use-page-meta.ts'

export interface DocumentSection {
  id: string
  title: string
  body: ReactNode
}

interface DocumentPageProps {
  title: string
  /** For search engines and link previews. */
  description: string
  lead: string
  updated?: string
  sections: DocumentSection[]
}

/** A long text with a table of contents, on its own or inside the owner shell. */
export function DocumentPage({ title, description, lead, updated, sections }: DocumentPageProps) {
  usePageMeta(title, description)
  useEffect(() => {
    // The browser scrolls to the fragment before the page is loaded.
    const target = window.location.hash.slice(1)
    if (target) document.getElementById(target)?.scrollIntoView()
  }, [])

  return (
    <article className="mx-auto max-w-6xl in-data-public:px-5 in-data-public:py-14 sm:in-data-public:px-8 sm:in-data-public:py-20">
      <header className="max-w-2xl">
        <h1 className="text-4xl font-semibold tracking-tight text-balance">{title}</h1>
        <p className="mt-4 text-lg leading-8 text-fg-muted text-pretty">{lead}</p>
        {updated ? <p className="mt-4 text-sm text-fg-muted">Last updated {updated}</p> : null}
      </header>

      <div className="mt-12 lg:grid lg:grid-cols-[13rem_minmax(0,1fr)] lg:gap-16">
        <nav aria-label="On this page" className="hidden lg:block">
          <ul className="sticky top-24 space-y-2.5 text-sm">
            {sections.map((section) => (
              <li key={section.id}>
                <a href={`#${section.id}`} className="text-fg-muted transition-colors hover:text-fg">
                  {section.title}
                </a>
              </li>
            ))}
          </ul>
        </nav>

        <div className="max-w-2xl space-y-12">
          {sections.map((section) => (
            <section key={section.id} aria-labelledby={section.id}>
              <h2 id={section.id} className="scroll-mt-24 text-xl font-semibold tracking-tight">
                {section.title}
              </h2>
              <div className="mt-4 space-y-4 text-[0.9375rem] leading-7 text-fg-muted text-pretty [&_a]:text-accent-text [&_a]:underline [&_a]:underline-offset-4 [&_dt:not(:first-child)]:mt-4 [&_dt]:font-medium [&_dt]:text-fg [&_li]:pl-1 [&_ul]:list-disc [&_ul]:space-y-2 [&_ul]:pl-5">
                {section.body}
              </div>
            </section>
          ))}
        </div>
      </div>
    </article>
  )
}

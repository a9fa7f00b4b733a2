import { paths } from '../../lib/navigation/paths.ts'
import { DocumentPage, type DocumentSection } from './document-page.tsx'

const sections: DocumentSection[] = [
  {
    id: 'what-it-is',
    title: 'What Keyward is',
    body: (
      <>
        <p>
          Keyward is a licensing and authentication platform for people who sell software. You create an app,
          generate license keys for it, and add a few lines to your program. From then on the program asks
          Keyward whether it may run, and Keyward answers in a way that nobody can forge.
        </p>
        <p>
          You host it yourself. It is one process with its database inside, it sends nothing to anybody, and
          what it knows about your customers stays on your machine.
        </p>
      </>
    ),
  },
  {
    id: 'who-it-is-for',
    title: 'Who it is for',
    body: (
      <dl>
        <dt>Owners</dt>
        <dd>
          Software vendors. They create apps, issue and manage license keys, appoint resellers and look after
          their end users, from one console.
        </dd>
        <dt>Resellers</dt>
        <dd>
          Partners who sell one of those apps. They sign in to a portal of their own and generate keys within
          the quota that the owner has set.
        </dd>
        <dt>End users</dt>
        <dd>
          The people who run the program. They register with a license key inside the program itself and never
          need to visit this site.
        </dd>
      </dl>
    ),
  },
  {
    id: 'how-a-check-works',
    title: 'How a check works',
    body: (
      <>
        <p>
          The program opens a session with the app’s id and secret, and signs its user in with a name and
          password or with the license key alone. Keyward looks at the ban, the dates and the hardware lock,
          in that order, and answers with a verdict and a text that you can word yourself, app by app.
        </p>
        <p>
          Every verdict is signed with a key that belongs to the app, and carries the random number that the
          program sent. A faked server, a recorded answer or an answer to another question does not pass. When
          you ban somebody, the very next call of their program is refused.
        </p>
      </>
    ),
  },
  {
    id: 'principles',
    title: 'What we hold on to',
    body: (
      <ul>
        <li>Limits hold on the server, even when many requests arrive at the same moment.</li>
        <li>A key is redeemed once. One program wins; all others are told so.</li>
        <li>What cannot be undone says what will be lost before it happens.</li>
        <li>The wire is documented and built on published standards, so that you are never locked in.</li>
      </ul>
    ),
  },
  {
    id: 'plans',
    title: 'Free and premium',
    body: (
      <p>
        The free plan has 2 apps and 30 licenses per app, without a time limit. Premium lifts those limits and
        adds resellers. When premium ends, nothing is deleted. The <a href={paths.terms}>terms</a> and the{' '}
        <a href={paths.privacy}>privacy policy</a> say the rest.
      </p>
    ),
  },
]

export function AboutPage() {
  return (
    <DocumentPage
      title="About Keyward"
      description="Keyward is a licensing and authentication platform that software vendors host themselves."
      lead="License keys, hardware locks and signed verdicts for the software that you sell, on a server of your own."
      sections={sections}
    />
  )
}

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
          Keyward whether it may run, and gets an answer that cannot be forged.
        </p>
        <p>
          You host it yourself. It is one process with an embedded database, and your customer data stays on
          your server. It contacts other services only if its operator sets up mail, payments or a check for
          leaked passwords.
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
          Software vendors. They create apps, issue and manage license keys, manage resellers and their end
          users, from one console.
        </dd>
        <dt>Resellers</dt>
        <dd>
          Partners who sell one of those apps. They sign in to their own portal and generate keys within the
          quota that the owner sets.
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
          password or with the license key alone. Keyward checks bans, dates and the hardware lock, in that
          order, and returns a verdict with a text that you can change for each app.
        </p>
        <p>
          Every verdict is signed with the app's own key and includes the random number that the program sent.
          Fake servers, recorded answers and answers to other requests are rejected. When you ban a user, the
          next call of their program is rejected.
        </p>
      </>
    ),
  },
  {
    id: 'principles',
    title: 'Our principles',
    body: (
      <ul>
        <li>The server enforces all limits, even for concurrent requests.</li>
        <li>A key can be redeemed only once.</li>
        <li>Before an action that cannot be undone, the console says what you will lose.</li>
        <li>The protocol is documented and uses published standards, so you are never locked in.</li>
      </ul>
    ),
  },
  {
    id: 'plans',
    title: 'Free and premium',
    body: (
      <p>
        The free plan includes 2 apps and 30 licenses per app, without a time limit. Premium removes these
        limits and adds resellers. When premium ends, nothing is deleted. See the{' '}
        <a href={paths.terms}>terms</a> and the <a href={paths.privacy}>privacy policy</a> for details.
      </p>
    ),
  },
  {
    id: 'licenses-of-others',
    title: 'Software of others',
    body: (
      <p>
        These pages contain open-source packages and the typeface Inter. Their authors and licenses are in the{' '}
        <a href={paths.notices}>third-party notices</a>.
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

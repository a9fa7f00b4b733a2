import { paths } from '../../lib/navigation/paths.ts'
import { DocumentPage, type DocumentSection } from './document-page.tsx'

const sections: DocumentSection[] = [
  {
    id: 'who',
    title: 'Who is responsible',
    body: (
      <>
        <p>
          Keyward is self-hosted: this server and its database are run by an operator, “we” in this policy.
          Nothing is sent to the makers of Keyward.
        </p>
        <p>
          For the accounts of administrators we decide how data is used. For the data of a vendor’s end users,
          the vendor decides and we process it on the vendor’s behalf. End users therefore best ask the vendor
          of their program first.
        </p>
      </>
    ),
  },
  {
    id: 'what',
    title: 'What is stored',
    body: (
      <>
        <p>It depends on the type of account.</p>
        <dl>
          <dt>Administrator</dt>
          <dd>
            Name, email address, a hash of the password, the plan and its payments, and the apps, license
            keys, resellers and settings that you create.
          </dd>
          <dt>Reseller</dt>
          <dd>
            Email address, a hash of the password, the app and quota you were given, and the license keys that
            you generate.
          </dd>
          <dt>End user</dt>
          <dd>
            Username, a hash of the password if there is one, the license key, its dates, a ban if there is
            one, and the network address of the last sign-in. Of each device: the hardware id that the
            vendor’s program sends, its name, its system, hashes of its parts, and when it was seen. If the
            program asks for an email address, that too.
          </dd>
        </dl>
        <p>
          For every account, usage logs record what was done, when, and from which network address. Passwords
          are hashed with Argon2id and cannot be read back. The last 20 network addresses that an account
          signed in from are kept for 90 days as hashes, so that a stranger who guesses passwords elsewhere
          cannot lock it out.
        </p>
      </>
    ),
  },
  {
    id: 'hardware',
    title: 'Hardware ids',
    body: (
      <p>
        A license can be locked to one machine. For that the program sends an identifier of the machine. The
        Keyward SDK sends a salted hash by default and never raw serial numbers; a vendor may choose to send
        something else, and must tell you so. Resetting the lock or deleting the end user removes it, except
        from lists of blocked devices and of devices that have used a trial.
      </p>
    ),
  },
  {
    id: 'why',
    title: 'What it is used for',
    body: (
      <>
        <ul>
          <li>to sign you in and to keep others out;</li>
          <li>to decide whether a license is valid, and to tell the program so;</li>
          <li>to enforce quotas and plan limits, and to stop guessing and abuse;</li>
          <li>to take payments and to account for them;</li>
          <li>to find the cause of faults.</li>
        </ul>
        <p>
          The grounds are the agreement with you, our legitimate interest in a secure service, and legal
          duties such as book-keeping. Data is not sold, not used for advertising, and not used to build
          profiles of people.
        </p>
      </>
    ),
  },
  {
    id: 'browser',
    title: 'In your browser',
    body: (
      <p>
        There are no analytics, no advertising and no third-party cookies. The console keeps your session,
        choices such as the theme, and what you opened last in the browser’s local storage, and one cookie for
        7 days that remembers whether the sidebar is open. All of it is needed for what you asked the console
        to do.
      </p>
    ),
  },
  {
    id: 'sharing',
    title: 'Who else receives data',
    body: (
      <>
        <p>
          An administrator sees the resellers and end users of their own apps. A reseller sees the license
          keys that they generated and who uses them. No administrator sees the data of another one.
        </p>
        <p>
          Buyers of premium give name, email address and card details to the card payment provider, which
          handles them under its own policy; we receive the confirmation and never the card number. Where the
          operator looks up leaked passwords, a lookup service receives the first five digits of a hash, which
          thousands of passwords share. Beyond that, data is given to others only where the law obliges us.
        </p>
      </>
    ),
  },
  {
    id: 'retention',
    title: 'How long it is kept',
    body: (
      <ul>
        <li>Account data: as long as the account exists.</li>
        <li>
          Apps, licenses, resellers and end users: until the administrator deletes them. Reset Data removes
          all of them at once.
        </li>
        <li>Usage logs: about 12–24 months, then they are deleted.</li>
        <li>Records of changes to an account and its data: as long as the account exists.</li>
        <li>Records of payments: as long as tax law requires.</li>
      </ul>
    ),
  },
  {
    id: 'security',
    title: 'How it is protected',
    body: (
      <p>
        Session tokens are stored only as a hash and can be revoked. Private signing keys and other secrets
        are encrypted in the database. Every answer to a vendor’s program is signed, so that it cannot be
        forged on the way. No system is perfect: if a breach puts you at risk, we tell you without undue
        delay.
      </p>
    ),
  },
  {
    id: 'rights',
    title: 'Your rights',
    body: (
      <>
        <p>
          You may ask what is stored about you, have it corrected, exported or deleted, object to its use, or
          have its use restricted, and you may complain to your data protection authority. Administrators can
          change their email address, password and records in the console at any time.
        </p>
        <p>
          Send your request to the operator of this server. We answer within 30 days. To protect you, we may
          ask for proof that the account is yours.
        </p>
      </>
    ),
  },
  {
    id: 'children',
    title: 'Children',
    body: (
      <p>
        The service is not meant for children under 13, and we do not knowingly store their data. If you
        believe that a child has given us data, tell us, and we delete it.
      </p>
    ),
  },
  {
    id: 'changes',
    title: 'Changes',
    body: (
      <p>
        When this policy changes, the new text appears here with a new date. The{' '}
        <a href={paths.terms}>terms of service</a> apply beside it.
      </p>
    ),
  },
]

export function PrivacyPage() {
  return (
    <DocumentPage
      title="Privacy Policy"
      description="Which data this Keyward server stores about administrators, resellers and end users, why, and for how long."
      lead="Which data this service stores, what it is used for, how long it is kept, and how you stay in control of it."
      updated="September 15, 2025"
      sections={sections}
    />
  )
}

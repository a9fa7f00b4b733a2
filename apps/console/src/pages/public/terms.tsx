import { paths } from '../../lib/navigation/paths.ts'
import { DocumentPage, type DocumentSection } from './document-page.tsx'

const sections: DocumentSection[] = [
  {
    id: 'agreement',
    title: 'The agreement',
    body: (
      <>
        <p>
          Keyward is software for issuing and checking software licenses. The person or organisation that runs
          this server is its operator, and “we” in these terms means that operator. By creating an account,
          signing in to a portal, or using a program that is licensed through this server, you accept these
          terms. If you accept them for an organisation, you confirm that you may do so.
        </p>
        <p>If you do not agree with them, do not use the service.</p>
      </>
    ),
  },
  {
    id: 'accounts',
    title: 'Account types',
    body: (
      <>
        <p>The service knows three kinds of account, and each opens only its own door.</p>
        <dl>
          <dt>Administrator</dt>
          <dd>
            The software vendor. An administrator creates apps, issues license keys, appoints resellers,
            manages end users, and is responsible for everything done under the account.
          </dd>
          <dt>Reseller</dt>
          <dd>
            A partner appointed by an administrator for exactly one app. A reseller generates license keys
            within the quota that the administrator sets, through a portal of its own.
          </dd>
          <dt>End user</dt>
          <dd>
            A person who uses an administrator’s program with a license key. The administrator decides how
            long a license runs and may ban, extend, reset or delete an end user.
          </dd>
        </dl>
        <p>
          You must give true information, keep your password and your app secrets to yourself, and tell us as
          soon as you notice that another person is using your account.
        </p>
      </>
    ),
  },
  {
    id: 'age',
    title: 'Age',
    body: (
      <p>
        Children under 13 may not use the service, under any type of account. If you are under the age of
        majority where you live, you need the consent of a parent or guardian.
      </p>
    ),
  },
  {
    id: 'acceptable-use',
    title: 'Acceptable use',
    body: (
      <>
        <p>You agree not to</p>
        <ul>
          <li>license software that is unlawful, malicious, or made to harm other people’s systems;</li>
          <li>issue licenses for software that you have no right to distribute;</li>
          <li>try to reach accounts, apps or data that are not yours;</li>
          <li>get around quotas, plan limits, rate limits or the checks of a licensed program;</li>
          <li>overload the service, or probe it for weaknesses without our written permission.</li>
        </ul>
        <p>
          We may pause or close an account that does any of this. Where the circumstances allow, we say why
          first and give you the chance to put it right.
        </p>
      </>
    ),
  },
  {
    id: 'vendors-and-users',
    title: 'Vendors and their customers',
    body: (
      <>
        <p>
          A license key is a matter between the administrator who issues it and the person who receives it.
          Price, support, updates and refunds of the licensed program are agreed between those two. We carry
          out what the administrator decides: a ban, an expiry or a reset takes effect with the program’s next
          check, and on a machine without a connection when the time it was given to run offline ends.
        </p>
        <p>
          Administrators answer for their resellers and must tell their end users which data the program sends
          here. The <a href={paths.privacy}>privacy policy</a> lists it.
        </p>
      </>
    ),
  },
  {
    id: 'plans',
    title: 'Plans, payment and refunds',
    body: (
      <>
        <p>
          The free plan includes 2 apps and 30 licenses per app. The premium plan has no limit on apps,
          licenses and resellers. Premium is paid in advance for 30 or 365 days through a card payment
          provider; your card details go to that provider and never to us. It does not renew automatically.
        </p>
        <p>
          Premium comes with a seven-day money-back guarantee: within seven days of your first payment you can
          have all of it back, and premium ends with that. Premium that is cancelled otherwise stays active
          until the end of the time that was paid for. After that the account returns to the free plan and
          nothing is deleted; you cannot add beyond the free limits until you are within them again.
        </p>
        <p>Prices may change. A change never touches time that you have already paid for.</p>
      </>
    ),
  },
  {
    id: 'your-content',
    title: 'Your content',
    body: (
      <p>
        Your apps, keys, messages and customer records stay yours. You allow us to store and process them as
        far as running the service requires it. Keyward itself is published under the Apache License 2.0;
        these terms cover the use of this server and do not limit the rights which that license gives you.
      </p>
    ),
  },
  {
    id: 'availability',
    title: 'Availability',
    body: (
      <p>
        We work to keep the service reachable and your data safe, but cannot promise that it will never be
        interrupted or free of faults. The service is provided as it is, without warranties beyond those that
        the law does not let us exclude. Plan how your program behaves when a check cannot be made.
      </p>
    ),
  },
  {
    id: 'liability',
    title: 'Liability',
    body: (
      <>
        <p>
          To the extent that the law allows, we are not liable for lost profits, lost data or other indirect
          damage. Our total liability for all claims about the service is capped at the fees that you paid for
          it in the 12 months before the event that gave rise to the claim.
        </p>
        <p>Nothing here limits liability that cannot be limited by law.</p>
      </>
    ),
  },
  {
    id: 'ending',
    title: 'Ending the agreement',
    body: (
      <p>
        You may stop using the service at any time; Reset Data in your settings removes your apps, licenses,
        resellers and end users at once. We may end the agreement with reasonable notice, or immediately after
        a serious breach of these terms. What is meant to last, such as the cap on liability, lasts.
      </p>
    ),
  },
  {
    id: 'changes',
    title: 'Changes and contact',
    body: (
      <p>
        When we change these terms we publish the new text here with a new date. If you go on using the
        service after that, the new text applies. Questions go to the operator of this server, and end users
        may also ask the vendor of their program.
      </p>
    ),
  },
]

export function TermsPage() {
  return (
    <DocumentPage
      title="Terms of Service"
      description="The terms for administrators, resellers and end users of this Keyward server."
      lead="What administrators, resellers and end users may expect from this service, and what it expects of them."
      updated="September 15, 2025"
      sections={sections}
    />
  )
}

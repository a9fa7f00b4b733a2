import type { CompatibilityProtocol } from '@keyward/contract'

/** The public key that KeyAuth's own libraries of 1.3 contain: the text to search for in a program. */
export const oldPublicKey = '5586b4bc69c7a4b487e4563a4cd96afd39140f919bd31cea7d1c6a1e8439422b'

const oldAddress = 'https://keyauth.win/api'

interface OldSdk {
  id: string
  label: string
  /** Where the address is. */
  where: string
  /** Whether its library of 1.3 verifies signatures, so that it contains the public key. */
  hasPublicKey: boolean
  /** What else shipped programs insist on. */
  demands: string
}

const issuers =
  'It accepts only certificates of Let’s Encrypt or Google Trust Services, so use one of these on port 443.'

export const oldSdks: readonly [OldSdk, ...OldSdk[]] = [
  {
    id: 'csharp',
    label: 'C#',
    where: 'In KeyAuth.cs, wherever a request is sent.',
    hasPublicKey: true,
    demands: issuers,
  },
  {
    id: 'cpp',
    label: 'C++',
    where:
      'In main.cpp: the text `url` that the constructor takes. The public key is in the library’s source.',
    hasPublicKey: true,
    demands: `${issuers} Libraries of 2026 refuse redirects and an entry in the hosts file, and need TLS 1.2 or newer.`,
  },
  {
    id: 'python',
    label: 'Python',
    where: 'In keyauth.py, in the method that posts.',
    hasPublicKey: true,
    demands: 'It takes plain http too.',
  },
  {
    id: 'javascript',
    label: 'JavaScript',
    where: 'keyauth-js: the option `baseUrl`. React: `url` and `public_key` at the top of the class.',
    hasPublicKey: true,
    demands:
      'Its Host header stays keyauth.win, which Keyward ignores; a proxy in front of it has to as well.',
  },
  {
    id: 'php',
    label: 'PHP',
    where: 'In the class, wherever a request is sent.',
    hasPublicKey: true,
    demands: 'The clocks of both servers may differ by 5 minutes at most.',
  },
  {
    id: 'go',
    label: 'Go',
    where: 'In the library’s source, wherever a request is sent.',
    hasPublicKey: true,
    demands: 'The clocks of both machines may differ by 25 seconds at most.',
  },
  {
    id: 'rust',
    label: 'Rust',
    where: 'The last argument of `KeyauthApi::new`.',
    hasPublicKey: false,
    demands: 'It takes plain http too.',
  },
]

interface Settings {
  protocols: readonly CompatibilityProtocol[]
  publicKey: string
  baseUrl: string
}

/** The texts of a program to replace, as the lines of a patch. */
export function linesToChange(sdk: OldSdk, { protocols, publicKey, baseUrl }: Settings): string {
  const addresses = protocols.map((protocol) => [`${oldAddress}/${protocol}/`, `${baseUrl}/api/${protocol}/`])
  const keys = sdk.hasPublicKey && protocols.includes('1.3') ? [[oldPublicKey, publicKey]] : []
  return [...addresses, ...keys].map(([before, after]) => `- ${before}\n+ ${after}`).join('\n')
}

/** From the most specific to the most general: browsers also name those that they are compatible with. */
const browsers: [name: string, pattern: RegExp][] = [
  ['Edge', /\bEdg(e|A|iOS)?\//],
  ['Opera', /\b(OPR|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Vivaldi', /\bVivaldi\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bVersion\/[\d.]+ .*Safari\//],
]
const systems: [name: string, pattern: RegExp][] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
]

const nameIn = (known: [name: string, pattern: RegExp][], agent: string) =>
  known.find(([, pattern]) => pattern.test(agent))?.[0]

/** Browser and system of a User-Agent in words; of a program the name that it gives itself. */
export function describeAgent(agent: string | null): string {
  if (!agent) return 'Unknown browser'
  const browser = nameIn(browsers, agent)
  const system = nameIn(systems, agent)
  if (browser) return system ? `${browser} on ${system}` : browser
  if (system) return `Browser on ${system}`
  return /^[\w .-]{1,40}(?=\/)/.exec(agent)?.[0] ?? 'Unknown browser'
}

export const isPhoneAgent = (agent: string | null) => /\b(iPhone|iPad|Android)\b/.test(agent ?? '')

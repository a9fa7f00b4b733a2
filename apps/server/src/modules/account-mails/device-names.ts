type Names = readonly (readonly [RegExp, string])[]

// The first one that matches counts: most browsers also name those that they are compatible with.
const browsers: Names = [
  [/\b(?:Edg|EdgA|EdgiOS)\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: Names = [
  [/\biPhone\b/, 'an iPhone'],
  [/\biPad\b/, 'an iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMacintosh\b/, 'a Mac'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** Names the browser and the system of a User-Agent. Repeats none of its text, which its sender chooses. */
export function toDeviceName(agent: string | null): string {
  const find = (names: Names) => names.find(([pattern]) => pattern.test(agent ?? ''))?.[1]
  const [browser, system] = [find(browsers), find(systems)]
  if (browser === undefined) return 'an unknown program'
  return system === undefined ? browser : `${browser} on ${system}`
}

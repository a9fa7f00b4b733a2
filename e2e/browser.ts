import { existsSync } from 'node:fs'
import chromium from '@sparticuz/chromium'

const usual = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/** The browser of the system, or the one that ships inside a development dependency. */
export async function browserPath(): Promise<string> {
  const chosen = process.env.CHROMIUM_PATH
  if (chosen !== undefined) return chosen
  return usual.find((path) => existsSync(path)) ?? (await chromium.executablePath())
}

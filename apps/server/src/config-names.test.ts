import { expect, test } from 'vitest'
import { ConfigError, readConfig } from './config.ts'

const mistakes = (environment: Record<string, string>): string[] => {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes
    throw error
  }
}

test.each([
  ['RATE_LIMIT', 'RATE_LIMITS'],
  ['RATE_LIMITING', 'RATE_LIMITS'],
  ['PAYMENT', 'PAYMENTS'],
  ['DEFAULT_PLANS', 'DEFAULT_PLAN'],
  ['KEYWARD_DEFAULT_PLAN', 'DEFAULT_PLAN'],
  ['RAZORPAY_KEY', 'RAZORPAY_KEY_ID'],
  ['RAZORPAY_KEY_SECRETS', 'RAZORPAY_KEY_SECRET'],
  ['KEYWARD_PORT', 'PORT'],
  ['KEYWARD_DATA_DIR', 'DATA_DIR'],
  ['KEYWARD_DATABASE_URL', 'DATABASE_URL'],
  ['DATADIR', 'DATA_DIR'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['PUBILC_URL', 'PUBLIC_URL'],
  ['TRUST_PROXIES', 'TRUST_PROXY'],
  ['SECRET_KEY_FIEL', 'SECRET_KEY_FILE'],
  ['REGISTRATIONS', 'REGISTRATION'],
  ['PASSWORD_POLICIES', 'PASSWORD_POLICY'],
  ['PRICE_MONTHLY_INR', undefined],
  ['RAZORPAY_SOMETHING_ELSE', undefined],
  ['KEYWARD_SOMETHING', undefined],
])('rejects %s and suggests %s', (name, meant) => {
  const found = mistakes({ [name]: 'on' })
  expect(found).toEqual([
    `${name}: is not a variable of Keyward${meant === undefined ? '' : `; did you mean ${meant}?`}`,
  ])
})

test.each([
  ['PORTAGE', '1'],
  ['HOSTNAME', 'box'],
  ['HOSTS', 'a,b'],
  ['SORT', 'asc'],
  ['LOGLEVEL', 'debug'],
  ['DATABASE_USER', 'app'],
  ['DATABASE_DIR', '/db'],
  ['DATABASE_URL_TEST', 'postgres://u@db/test'],
  ['HTTP_URL', 'http://other'],
  ['SECRET_KEY_BASE', 'rails'],
  ['PUBLIC_KEY', 'ssh-ed25519'],
  ['LINK_STYLE', 'x'],
  ['PRICE', '5'],
  ['npm_config_payment', 'x'],
  ['KEYWARD_BASE_URL', 'http://127.0.0.1:3000'],
  ['KEYWARD_APP_ID', 'k3yw4rd1'],
  ['KEYWARD_SECRET', 'of a program'],
  ['KEYWARD_URL', 'https://licenses.example.com'],
  ['KEYWARD_API_KEY_FILE', '/run/secrets/key'],
  ['KEYWARD_MCP_TOKEN', 'of an agent'],
  ['KEYWARD_PORT', 'tcp://10.0.0.7:3000'],
  ['KEYWARD_PORT_3000_TCP_ADDR', '10.0.0.7'],
  ['KEYWARD_WEB_SERVICE_HOST', '10.0.0.7'],
  ['RATE_LIMIT', ''],
])('ignores %s=%s of other software', (name, value) => {
  expect(mistakes({ [name]: value })).toEqual([])
})

test.each([
  ['LOG_LEVELS', 'LOG_LEVEL', 'warn'],
  ['RATE_LIMIT', 'RATE_LIMITS', 'on'],
  ['KEYWARD_PORT', 'PORT', '3000'],
])('ignores %s if %s is also set', (similar, correct, value) => {
  expect(mistakes({ [similar]: 'x', [correct]: value })).toEqual([])
})

test('finds no misspelling in a typical shell environment', () => {
  const usual = 'PATH HOME USER SHELL TERM LANG PWD OLDPWD LOGNAME MAIL HOSTNAME EDITOR PAGER DISPLAY TZ'
  expect(mistakes(Object.fromEntries(usual.split(' ').map((name) => [name, 'x'])))).toEqual([])
})

import { limits } from './constants.ts'
import { messageDefaults } from './messages.ts'

/** Every error code of the API: its HTTP status, its default text, and the field it always concerns, if any. */
const general = {
  invalid_input: [400, 'Some of the input is invalid'],
  invalid_json: [400, 'The body is not valid JSON'],
  invalid_digest: [400, 'The Content-Digest does not match the body'],
  invalid_nonce: [400, 'Keyward-Nonce must be 16 to 64 visible characters'],
  bad_request: [400, 'The request is not valid HTTP'],
  forwarded_refused: [
    400,
    'A development instance answers only its own machine, not through a proxy. To open it to others, set PUBLIC_URL to the address that they use and TRUST_PROXY to the number of proxies, remove PAYMENTS=mock and RATE_LIMITS=off, and start it again.',
  ],
  invalid_signature: [400, 'The signature is not valid'],
  invalid_coupon: [400, 'Invalid coupon code'],
  invitation_invalid: [400, 'This invitation has expired or was already used. Please ask for a new one.'],
  reset_link_invalid: [400, 'This link has expired or was already used. Please request a new one.'],
  payment_not_verified: [400, 'Failed to verify payment'],
  unauthorized: [401, 'Not authorized'],
  invalid_credentials: [401, 'Invalid email or password'],
  customer_login_failed: [401, 'Invalid username or password'],
  customer_link_invalid: [401, 'This link has expired or was already used. Please request a new one.'],
  invalid_code: [401, 'This code is not correct'],
  challenge_ended: [401, 'This took too long. Please start again.'],
  permission_missing: [403, 'Your role or API key does not allow this'],
  api_key_not_allowed: [403, 'This call needs a signed-in person. API keys cannot make it.'],
  network_not_allowed: [403, 'This API key does not work from this network'],
  api_keys_full: [403, `An account can have at most ${limits.apiKeysMax} API keys`],
  confirm_identity: [403, 'Please confirm that it is you to continue'],
  reauthenticate: [403, 'Please enter your password to continue'],
  second_factor_required: [403, 'This vendor requires a second factor. Please add one first.'],
  plan_limit_reached: [403, 'You have reached the limit of your plan'],
  quota_reached: [403, 'Your license quota is used up'],
  custom_keys_off: [403, 'This application does not allow custom license keys'],
  no_vendor: [403, 'You do not belong to a vendor account any more. Please ask for an invitation.'],
  vendor_disabled: [403, 'The operator of this server has disabled this vendor account'],
  registration_closed: [403, 'Registration is closed on this server'],
  first_owner_link_invalid: [
    403,
    'This link has expired or was already used. Until the server has an account, each start prints a new one.',
  ],
  device_self_service_off: [403, 'This application does not let you free devices yourself'],
  customer_key_session: [
    403,
    'A license key opens only its license and its devices. Sign in with your password or a mailed link.',
  ],
  not_found: [404, 'Not found'],
  method_not_allowed: [405, 'This path does not support this method'],
  request_timeout: [408, 'The request took too long to arrive'],
  totp_on: [409, 'You use an authenticator app already. Remove it first.'],
  passkeys_full: [409, `You can have at most ${limits.passkeysMax} passkeys. Remove one first.`],
  email_taken: [409, 'An account with this email already exists', 'email'],
  member_exists: [409, 'This person is already in the team', 'email'],
  members_full: [409, `A team can have at most ${limits.membersMax} members`],
  vendors_full: [409, `You can belong to at most ${limits.vendorsMax} vendor accounts`],
  invitation_open: [409, 'This person has not accepted the invitation yet'],
  owns_vendor: [409, 'This member already owns another vendor account'],
  vendor_owned: [409, 'You own this vendor account. Hand it over to a member first.'],
  last_vendor: [409, 'This is the only vendor account you belong to. To leave it, delete your account.'],
  account_owns_apps: [409, 'Delete your apps first, or hand your vendor account over to a member.'],
  reseller_suspended: [409, 'This reseller is suspended. Resume it to generate licenses for it.', 'reseller'],
  webhooks_full: [409, `An account can have at most ${limits.webhooksMax} webhooks`],
  webhook_paused: [409, 'This webhook is paused. Resume it first.'],
  shops_full: [409, `An app can have at most ${limits.shopsMax} shops`],
  shop_paused: [409, 'This shop is paused. Resume it first.'],
  order_not_waiting: [409, 'This order does not wait for anything'],
  order_choice_invalid: [409, 'This order does not offer that choice'],
  order_has_customer: [409, 'This order has a customer already: change the address there', 'email'],
  order_mail_queued: [409, 'The mail of this order is on its way'],
  order_without_mail: [409, 'This order has no keys to mail, or its buyer is not a customer'],
  webhook_unsigned: [409, 'Discord checks no signatures, so this webhook has no secret'],
  blocklist_full: [
    403,
    `An app can block at most ${limits.blocklistMax.toLocaleString('en')} devices and addresses`,
  ],
  locales_full: [
    403,
    `An app can have texts in at most ${limits.messageLocalesMax} languages besides the default`,
  ],
  already_blocked: [409, 'This is already on the block list', 'value'],
  key_taken: [409, 'This license key already exists in the application', 'key'],
  username_taken: [409, 'Username is already taken', 'username'],
  type_name_taken: [409, 'The application has a license type of this name', 'name'],
  license_types_full: [409, 'The application has 100 license types. Delete one first.'],
  customer_exists: [409, 'There is a customer with this address already', 'email'],
  compatibility_taken: [
    409,
    'Another app of this server answers to this name and owner ID. Its programs cannot be told apart from yours.',
    'ownerId',
  ],
  customer_page_off: [409, 'The app has no page on which a customer can choose a password'],
  no_address: [409, 'This end user has no e-mail address, and neither does it belong to a customer'],
  signs_in_by_key: [409, 'This end user signs in with its key and has no password'],
  license_not_free: [409, 'This license is used, banned or expired', 'license'],
  end_user_blocked: [409, 'This end user is banned or paused. Lift that first.'],
  never_expires: [409, 'This end user never expires, so there is nothing to extend'],
  device_cooldown: [409, 'You have freed a device recently. Please try again later.'],
  device_free_limit: [
    409,
    'You have freed as many devices as the vendor allows for now. Please try again later.',
  ],
  device_activated_offline: [409, 'This device runs without a connection. Please ask the vendor to free it.'],
  device_leased: [409, 'A lease that this device got before it changed still runs'],
  offline_refused: [409, 'The machine cannot be activated'],
  offline_floating: [
    409,
    'The license is floating: its seats are shared through the server, so its machines must be online',
    'request',
  ],
  offline_request_used: [
    409,
    'This request was used already: its machine was deactivated, or has made a newer request. Make a new request in the program.',
    'request',
  ],
  offline_code_used: [409, 'This code was used already', 'code'],
  offline_code_replaced: [
    409,
    'The machine was activated again after this code was made. Enter the code that the program shows now.',
    'code',
  ],
  release_changed: [
    409,
    'Someone else changed this release in the meantime. Nothing was saved. Open it again to see the current values.',
  ],
  release_exists: [409, 'This version is already listed', 'version'],
  releases_full: [409, 'The app lists 1000 versions. Please remove some first.'],
  releases_too_large: [409, 'Notes and artifacts of the releases of an app can take at most 8 MiB'],
  security_kept: [
    409,
    'A release with a security fix that is out keeps its fix, version and date',
    'security',
  ],
  imports_full: [409, 'You have started 20 imports in the last 30 days. Use one that has not run, or wait.'],
  import_files_full: [
    409,
    'The files of your imports have more bytes than your plan allows (16 MiB, or 128 MiB with premium), or 10 files in one import. Please run an import first.',
  ],
  import_not_waiting: [409, 'The import runs, or has run. Please start a new one.'],
  import_unanswered: [409, 'Please answer all questions of the import first', 'answers'],
  import_without_files: [409, 'The import has no files yet'],
  import_not_done: [409, 'Only an import that has ended can be undone, once'],
  license_changed: [
    409,
    'Someone else changed this license in the meantime. Nothing was saved. Open it again to see the current values.',
  ],
  client_changed: [
    409,
    'Someone else changed this end user in the meantime. Nothing was saved. Open it again to see the current values.',
  ],
  app_changed: [
    409,
    'Someone else changed this app in the meantime. Nothing was saved. Open it again to see the current values.',
  ],
  reseller_changed: [
    409,
    'Someone else changed this reseller in the meantime. Nothing was saved. Open it again to see the current values.',
  ],
  license_type_changed: [
    409,
    'Someone else changed this license type in the meantime. Nothing was saved. Open it again to see the current values.',
  ],
  variables_changed: [
    409,
    'Someone else changed these variables in the meantime. Nothing was saved. Open them again to see the current values.',
  ],
  request_running: [409, 'This request is still running. Please try again in a moment.'],
  request_interrupted: [
    409,
    'An earlier request with this Idempotency-Key was interrupted after its first changes, or still runs on another server. Check what it has changed before you send the request with a new key.',
  ],
  messages_changed: [
    409,
    'Someone else changed these texts in the meantime. Nothing was saved. Open them again to see the current values.',
  ],
  app_mail_changed: [
    409,
    'Someone else changed this mail in the meantime. Nothing was saved. Open it again to see the current text.',
  ],
  email_not_confirmed: [409, 'Please confirm your email address first, under Settings, Notifications.'],
  conflict: [409, 'The request conflicts with the current state'],
  payment_pending: [
    409,
    'The payment is still being processed. Premium starts automatically once it completes.',
  ],
  payment_returned: [409, 'This payment could not be used. It is refunded in full.'],
  payload_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'The body must be JSON'],
  idempotency_key_used: [
    422,
    'This Idempotency-Key was used for another request. Please send a new key with a new request.',
  ],
  rate_limited: [429, 'Too many attempts. Please try again later.'],
  busy: [429, 'The server is busy. Please try again in a moment.'],
  too_many_at_once: [429, 'Your account has too many concurrent requests. Please try again in a moment.'],
  job_running: [
    429,
    'An export, import, deletion or change of many licenses is still running in your account. Please try again when it has finished.',
  ],
  headers_too_large: [431, 'The request headers are too large'],
  internal: [500, 'Something went wrong on the server'],
  payment_provider_unavailable: [
    502,
    'The payment provider could not be reached. Please try again in a moment.',
  ],
  release_repairs_nothing: [409, 'This release has no security fix'],
  release_not_out: [409, 'This release is not out, or was withdrawn'],
  notices_used_up: [
    409,
    'You have mailed customers about three releases within a week. Please try again later.',
  ],
  mail_off: [503, 'This server does not send mail. Ask its operator to reset your password.'],
  payments_off: [503, 'Payments are turned off on this server'],
  unavailable: [503, 'The server is not ready'],
  database_unavailable: [503, 'The database does not respond. Please try again in a moment.'],
  storage_full: [507, 'The storage of the server is full'],
} as const

/** Statuses of the messages that a vendor's program sees; codes that are not listed here have 403. */
const programStatus: Partial<Record<keyof typeof messageDefaults, number>> = {
  sessionUnauthed: 401,
  usernameNotFound: 401,
  passMismatch: 401,
  keyNotFound: 404,
  keyUsed: 409,
  usernameTaken: 409,
  unTooShort: 400,
  pwLeaked: 400,
}

export type MessageKey = keyof typeof messageDefaults
export type ErrorCode = keyof typeof general | MessageKey

/** The HTTP status and the default text of a code, and the path of the field it always concerns. */
export function errorFacts(code: ErrorCode): { status: number; message: string; path?: string } {
  if (code in general) {
    const [status, message, path] = general[code as keyof typeof general] as readonly [
      number,
      string,
      string?,
    ]
    return path === undefined ? { status, message } : { status, message, path }
  }
  const key = code as MessageKey
  return { status: programStatus[key] ?? 403, message: messageDefaults[key] }
}

export const errorCodes = [...Object.keys(general), ...Object.keys(messageDefaults)] as ErrorCode[]

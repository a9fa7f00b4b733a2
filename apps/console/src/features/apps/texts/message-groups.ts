import { type MessageKey, messageDefaults } from '@keyward/contract'

export interface MessageGroup {
  title: string
  keys: readonly MessageKey[]
  /** Closed at first: the messages of licensing models that an app may never use. */
  collapsed?: true
}

/** The messages that every app needs, in the order in which an end user can meet them. */
const usual: readonly MessageGroup[] = [
  { title: 'Signing in', keys: ['loggedInMsg', 'usernameNotFound', 'passMismatch', 'sessionUnauthed'] },
  { title: 'Registering', keys: ['usernameTaken', 'unTooShort', 'pwLeaked'] },
  { title: 'License keys', keys: ['keyNotFound', 'keyUsed', 'keyBanned'] },
  { title: 'Accounts and subscriptions', keys: ['noActiveSubs', 'pausedSub', 'userBanned'] },
  { title: 'Devices and networks', keys: ['hwidMismatch', 'hwidBlacklisted', 'vpnBlocked'] },
  { title: 'The application', keys: ['appDisabled', 'pausedApp', 'hashCheckFail'] },
]

const all = Object.keys(messageDefaults) as MessageKey[]
const others = all.filter((key) => !usual.some(({ keys }) => keys.includes(key)))

/** Every message once. */
export const messageGroups: readonly MessageGroup[] = [
  ...usual,
  { title: 'Trials, seats, updates and activation', keys: others, collapsed: true },
]

/** The messages whose code, group or text contains the words searched for. */
export function findMessages(
  search: string,
  textOf: (key: MessageKey) => string,
): (MessageGroup & { keys: MessageKey[] })[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return messageGroups
    .map((group) => ({
      ...group,
      keys: group.keys.filter((key) => {
        const all = `${key} ${group.title} ${textOf(key)}`.toLowerCase()
        return words.every((word) => all.includes(word))
      }),
    }))
    .filter(({ keys }) => keys.length > 0)
}

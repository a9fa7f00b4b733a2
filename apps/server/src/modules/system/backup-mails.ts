import { hostname } from 'node:os'
import type { Config } from '../../config.ts'
import { toIso } from '../../core/clock.ts'
import type { Mail } from '../mail/mail.service.ts'
import { composeMail } from '../mail/mail.text.ts'
import type { BackupState } from './backup-state.ts'
import { adviceOn } from './backups.rules.ts'

const nameOf = ({ publicUrl }: Config): string => publicUrl ?? hostname()

type Failure = NonNullable<BackupState['failure']>

export function failureMail(
  config: Config,
  to: string,
  { fault, reason }: Failure,
  newest: number | undefined,
): Mail {
  const { directory } = config.backups
  return composeMail({
    to,
    subject: `Keyward: a backup of ${nameOf(config)} failed`,
    paragraphs: [
      `The scheduled backup into ${directory} failed: ${reason}`,
      newest === undefined
        ? 'There is no scheduled backup yet.'
        : `The newest one is of ${toIso(newest)}. No older one is deleted until a new one is verified.`,
      adviceOn(fault, directory),
      'The server tries again every hour. While that fails, it sends one mail a day, and one when backups work again.',
    ],
  })
}

export const recoveryMail = (config: Config, to: string, path: string): Mail =>
  composeMail({
    to,
    subject: `Keyward: backups of ${nameOf(config)} work again`,
    paragraphs: [`The server made ${path}, and a restore of it succeeded.`],
  })

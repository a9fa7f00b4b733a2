import type { SealedColumn, SealedRow } from '../../db/key-rotation/reseal.ts'
import { answerContext } from '../../service/stored-answers.ts'
import { secretContext as appSecretContext, signingContext } from '../apps/apps.service.ts'
import { keyContext, secretContext as programSecretContext } from '../compatibility/compatibility.rules.ts'
import { erasureContext } from '../customers/erasures.access.ts'
import { filePartContext } from '../imports/imports.files.ts'
import { lazyMoveContext } from '../lazy-move/lazy-move.service.ts'
import { mailContext } from '../mail/mail.queue.ts'
import { resetRequestContext } from '../password-resets/reset-requests.ts'
import { totpContext } from '../second-factors/second-factors.proofs.ts'
import { shopKeyContext, shopSecretContext } from '../shops/shops.secrets.ts'
import { contextOfApp, contextOfClient } from '../variables/variables.service.ts'
import { urlContext, secretContext as webhookSecretContext } from '../webhooks/webhooks.service.ts'

const text = (value: SealedRow[string] | undefined): string => String(value ?? '')

/** Columns of a table whose context is made from its key. */
const by = (table: string, key: string, columns: Record<string, (id: string) => string>): SealedColumn[] =>
  Object.entries(columns).map(([column, context]) => ({
    ...{ table, column, keys: [key] as const },
    context: (row) => context(text(row[key])),
  }))

const holderContext = ({ account_id, reseller_id }: SealedRow): string =>
  totpContext(
    account_id ? { kind: 'account', id: text(account_id) } : { kind: 'reseller', id: text(reseller_id) },
  )

const ofHolder = (column: string): SealedColumn => ({
  ...{ table: 'second_factors', column, keys: ['id'] },
  needs: ['account_id', 'reseller_id'],
  context: holderContext,
})

/** Every column whose values the secret key seals. A test compares it with what a full database holds. */
export const sealedColumns: readonly SealedColumn[] = [
  ...by('apps', 'id', { secret_sealed: appSecretContext, signing_sealed: signingContext }),
  {
    ...{ table: 'signing_keys', column: 'sealed', keys: ['kid'], needs: ['app_id'] },
    context: ({ app_id }) => signingContext(text(app_id)),
  },
  ...by('app_variables', 'app_id', { sealed: contextOfApp }),
  ...by('client_variables', 'client_id', { sealed: contextOfClient }),
  ofHolder('totp_sealed'),
  ofHolder('pending_sealed'),
  ...by('mails', 'id', { sealed: mailContext }),
  ...by('reset_requests', 'id', { sealed: resetRequestContext }),
  ...by('webhooks', 'id', {
    url_sealed: urlContext,
    secret_sealed: webhookSecretContext,
    previous_sealed: webhookSecretContext,
  }),
  ...by('shops', 'id', { secret_sealed: shopSecretContext, api_key_sealed: shopKeyContext }),
  ...by('compatibility', 'app_id', { secret_sealed: programSecretContext, key_sealed: keyContext }),
  ...by('lazy_moves', 'app_id', { secret_sealed: lazyMoveContext }),
  {
    ...{ table: 'data_import_parts', column: 'sealed', keys: ['file_id', 'part'], atOnce: 5 },
    context: ({ file_id, part }) => filePartContext(text(file_id), Number(part)),
  },
  {
    ...{ table: 'erasures', column: 'sealed', keys: ['seq'], needs: ['customer_id'] },
    context: ({ customer_id }) => erasureContext(text(customer_id)),
  },
  {
    ...{ table: 'idempotency_keys', column: 'answer', keys: ['id'], needs: ['runner'], atOnce: 10 },
    context: ({ id, runner }) => answerContext(text(id), runner === null),
  },
]

import type { ActionName } from '@keyward/contract'
import type { ActionRecord } from '../../src/db/index.ts'
import { hashed, type makeApp, makeLicenses, type Owner, single } from '../actors.ts'
import type { Answer, TestServer } from '../harness.ts'

export type Call = () => Promise<Answer>
/** The actor, the recorded actions, and a function that prepares and returns the request. */
export type Recipe = [
  kind: ActionRecord['actor']['kind'],
  recorded: ActionName[],
  prepare: () => Promise<Call>,
]
export type Recipes = Record<string, Recipe>

export function recipeOf(recipes: Recipes, name: string): Recipe {
  const recipe = recipes[name]
  if (!recipe) throw new Error(`add ${name} to \`recipes\` with what it records`)
  return recipe
}

export interface World {
  on: TestServer
  owner: Owner
  app: Awaited<ReturnType<typeof makeApp>>
}

export const expiresAt2030 = '2030-01-01'

export const oneLicense = async ({ on, owner, app }: World) => single(await makeLicenses(on, owner, app))

export const addResetLink = async ({ on }: World, accountId: string, resellerId: string | null) => {
  const token = `kwp_${accountId}_${resellerId}`
  await on.database.db
    .insertInto('password_resets')
    .values({
      id: `rst_${resellerId ?? accountId}`,
      account_id: resellerId === null ? accountId : null,
      reseller_id: resellerId,
      token_hash: hashed(token),
      created_at: 0,
      expires_at: on.clock.now() + 1,
    })
    .execute()
  return token
}

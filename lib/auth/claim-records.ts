import { claimTable } from './claims.ts'
import type { CustomClaim } from './directory-schemas.ts'
import type { ClaimRecord } from './role-schemas.ts'

/** The first of these words in a claim's name says what it lets one do. */
const actions: Readonly<Record<string, string>> = {
  READ: 'read',
  LIST: 'read',
  DEBUG: 'read',
  CREATE: 'create',
  UPDATE: 'update',
  DELETE: 'delete',
  DELET: 'delete',
  EXECUTE: 'execute',
  PULL: 'pull',
  PUSH: 'push',
  IMPORT: 'import',
  REVERT: 'revert',
  CONFIGURE: 'configure',
}

const actionOf = (name: string): string => actions[name.split('_').find(word => word in actions) ?? 'LIST']!

const serviceClaims: ReadonlyMap<string, ClaimRecord> = new Map(
  claimTable.flatMap(({ group, resource, names }) =>
    names.map(name => [name, { id: name, name, internal: true, group, resource, action: actionOf(name) }] as const),
  ),
)

/** Every claim of the service, in the order of its table. */
export const serviceClaimRecords: readonly ClaimRecord[] = [...serviceClaims.values()]

/** The record of a claim; one that is not the service's own is an added one. */
export const claimRecord = (name: string, custom?: CustomClaim): ClaimRecord =>
  serviceClaims.get(name) ?? {
    id: name,
    name,
    internal: false,
    ...(custom?.description && { description: custom.description }),
  }

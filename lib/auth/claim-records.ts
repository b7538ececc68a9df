import { findClosestName } from '#lib/access/closest-name.ts'
import { type Fault, ServiceError } from '#lib/errors.ts'
import { canonicalizeClaim, claimTable, plannedClaims } from '#lib/access/claims.ts'
import type { CustomClaim } from './directory-schemas.ts'
import type { ClaimRecord } from './role-schemas.ts'

/** The action of a claim, by the first of these words in its name. */
const actionOfWord: Readonly<Record<string, string>> = {
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

const findAction = (name: string): string => {
  const word = name.split('_').find(part => Object.hasOwn(actionOfWord, part))
  return (word && actionOfWord[word]) ?? 'read'
}

const serviceClaims: ReadonlyMap<string, ClaimRecord> = new Map(
  claimTable.flatMap(({ group, resource, names }) =>
    names.map(name => [name, { id: name, name, internal: true, group, resource, action: findAction(name) }] as const),
  ),
)

/** Every claim of the service, in the order of its table. */
export const serviceClaimRecords: readonly ClaimRecord[] = [...serviceClaims.values()]

/** Whether the service defines a claim of this name. Planned claims count. */
export const isServiceClaim = (name: string): boolean => serviceClaims.has(canonicalizeClaim(name))

/** The error for the name of a claim that does not exist. It suggests the closest name. */
export const createUnknownClaimError = (name: string, fault: Fault = 'not-found'): ServiceError => {
  const closest = findClosestName(
    name,
    serviceClaimRecords.map(claim => claim.name).filter(claim => !plannedClaims.has(claim)),
  )
  const meant = closest ? ` Did you mean ${closest}?` : ''
  return new ServiceError(fault, `There is no claim ${name}.${meant} GET /api/v1/auth/claims lists them all.`)
}

/** The record of a claim. A name that the service does not define is that of an added claim. */
export const toClaimRecord = (name: string, custom?: CustomClaim): ClaimRecord =>
  serviceClaims.get(name) ?? {
    id: name,
    name,
    internal: false,
    ...(custom?.description && { description: custom.description }),
  }

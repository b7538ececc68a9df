import type { ClaimName } from '#lib/access/claims.ts'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { CatalogManager } from './schemas.ts'

const holds = ({ superUser, claims }: Principal, claim: ClaimName): boolean => superUser || claims.has(claim)

const owns = (caller: Principal, manager: CatalogManager): boolean => manager.owner_id === caller.id

const isOffered = ({ superUser, claims }: Principal, { global, required_claims }: CatalogManager): boolean =>
  global && (superUser || required_claims.every(claim => claims.has(claim)))

/** Whether the caller may use a manager: the owner, a super user, or for a global manager a holder of all its required claims. */
export const mayUse = (caller: Principal, manager: CatalogManager): boolean =>
  caller.superUser || owns(caller, manager) || isOffered(caller, manager)

/** Whether the caller may see a manager. A caller who may list all of them sees some that the caller cannot use. */
export const maySee = (caller: Principal, manager: CatalogManager): boolean =>
  mayUse(caller, manager) || holds(caller, 'CATALOG_MANAGER_LIST')

/**
 * Throws `forbidden` when the caller may not change a catalog through a manager. Through the manager of somebody else, everybody
 * can read and pull, but changes need one of the claims that hold for every catalog.
 */
export const checkMayChangeBy = (caller: Principal, manager: CatalogManager, anyOf: readonly ClaimName[]): void => {
  if (owns(caller, manager) || anyOf.some(claim => holds(caller, claim))) return
  throw new ServiceError(
    'forbidden',
    `${manager.name} is not yours; to change its catalog needs the claim ${anyOf[0]}.`,
  )
}

/** Throws `forbidden` when the caller may not change or delete a manager. */
export const checkMayChange = (caller: Principal, manager: CatalogManager, action: 'UPDATE' | 'DELETE'): void => {
  if (manager.internal && !caller.superUser)
    throw new ServiceError('forbidden', `${manager.name} is part of the installation: only super users can change it.`)
  if (!owns(caller, manager) && !holds(caller, `CATALOG_MANAGER_${action}`))
    throw new ServiceError('forbidden', `${manager.name} is not yours; this needs the claim CATALOG_MANAGER_${action}.`)
}

/** Throws `forbidden` when the caller may not store a manager for others: the right to own managers is not enough for that. */
export const checkMayPublish = (caller: Principal, manager: CatalogManager, action: 'CREATE' | 'UPDATE'): void => {
  if ((manager.global || manager.internal) && !holds(caller, `CATALOG_MANAGER_${action}`))
    throw new ServiceError(
      'forbidden',
      `A manager that is global or internal needs the claim CATALOG_MANAGER_${action}, which you do not have.`,
    )
}

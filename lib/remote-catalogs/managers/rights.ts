import type { ClaimName } from '#lib/access/claims.ts'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { CatalogManager } from './schemas.ts'

const holds = ({ superUser, claims }: Principal, claim: ClaimName): boolean => superUser || claims.has(claim)

const owns = (caller: Principal, manager: CatalogManager): boolean => manager.owner_id === caller.id

const isOffered = ({ superUser, claims }: Principal, { global, required_claims }: CatalogManager): boolean =>
  global && (superUser || required_claims.every(claim => claims.has(claim)))

/** Whether somebody may use a manager: its owner, super users, and of a global one all who hold its required claims. */
export const mayUse = (caller: Principal, manager: CatalogManager): boolean =>
  caller.superUser || owns(caller, manager) || isOffered(caller, manager)

/** Whether a manager is there for somebody; who lists all of them canSee some that they cannot use. */
export const maySee = (caller: Principal, manager: CatalogManager): boolean =>
  mayUse(caller, manager) || holds(caller, 'CATALOG_MANAGER_LIST')

/**
 * Passes who may change something of a catalog by a manager that they use. What somebody else lends them is to read and to
 * pull: to change anything by it takes one of the claims that hold for every catalog. Throws `forbidden`.
 */
export const checkMayChangeBy = (caller: Principal, manager: CatalogManager, anyOf: readonly ClaimName[]): void => {
  if (owns(caller, manager) || anyOf.some(claim => holds(caller, claim))) return
  throw new ServiceError(
    'forbidden',
    `${manager.name} is not yours; to change its catalog needs the claim ${anyOf[0]}.`,
  )
}

/** Passes who may change or delete a manager that they see. Throws `forbidden`. */
export const checkMayChange = (caller: Principal, manager: CatalogManager, action: 'UPDATE' | 'DELETE'): void => {
  if (manager.internal && !caller.superUser)
    throw new ServiceError('forbidden', `${manager.name} is part of the installation: only super users change it.`)
  if (!owns(caller, manager) && !holds(caller, `CATALOG_MANAGER_${action}`))
    throw new ServiceError('forbidden', `${manager.name} is not yours; this needs the claim CATALOG_MANAGER_${action}.`)
}

/** Passes a manager as it is to be kept: one for others needs more than the right to own managers. Throws `forbidden`. */
export const checkMayPublish = (caller: Principal, manager: CatalogManager, action: 'CREATE' | 'UPDATE'): void => {
  if ((manager.global || manager.internal) && !holds(caller, `CATALOG_MANAGER_${action}`))
    throw new ServiceError(
      'forbidden',
      `A manager that is global or internal needs the claim CATALOG_MANAGER_${action}, which you do not have.`,
    )
}

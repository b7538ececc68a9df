import { claims } from '../state/claims.ts'
import { roles } from '../state/roles.ts'
import { may } from '../state/session.ts'
import { useListIf } from '../state/use-list-if.ts'

/** The names of the roles, for who may list them. */
export const useRoleNames = (): readonly string[] => useListIf(may('roles.list'), roles).map(({ id }) => id)

/** The names of the claims, for who may list them. */
export const useClaimNames = (): readonly string[] => useListIf(may('claims.list'), claims).map(({ id }) => id)

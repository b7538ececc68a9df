import type { Requirement } from '#lib/access/requirement.ts'

/** Who may claim a machine of a pool. */
export const claimAccess = { claims: ['UPDATE_VM_STATES'] } as const satisfies Requirement

import type { ClaimName } from '#lib/access/claims.ts'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'

/** The claims for each call of snapshots: the first for any machine, the second for a machine that the caller has made. */
export const snapshotClaims = {
  list: ['LIST_SNAPSHOT_VM', 'LIST_OWN_VM_SNAPSHOT'],
  create: ['CREATE_SNAPSHOT_VM', 'CREATE_OWN_VM_SNAPSHOT'],
  revert: ['REVERT_SNAPSHOT_VM', 'REVERT_OWN_VM_SNAPSHOT'],
  delete: ['DELETE_SNAPSHOT_VM', 'DELETE_OWN_VM_SNAPSHOT'],
  deleteAll: ['DELETE_ALL_SNAPSHOTS_VM', 'DELETE_ALL_OWN_VM_SNAPSHOTS'],
} as const satisfies Readonly<Record<string, readonly [ClaimName, ClaimName]>>
export type SnapshotRight = keyof typeof snapshotClaims

/** Throws `forbidden` unless the caller may do this with the snapshots of a machine. */
export const assertMayUseSnapshots = (
  { id, superUser, claims }: Principal,
  { name, definition }: Pick<MachineView, 'name' | 'definition'>,
  right: SnapshotRight,
): void => {
  const [any, own] = snapshotClaims[right]
  if (superUser || claims.has(any) || (definition.owner === id && claims.has(own))) return
  throw new ServiceError(
    'forbidden',
    `This needs the claim ${any}, or ${own} and a machine that you made; ${name} is not yours.`,
  )
}

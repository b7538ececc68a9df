import type { ManifestOperations } from './own-operations.ts'

/** What can be done with a manifest of another service's catalog. */
export const managedOperations: ManifestOperations = {
  pull: 'catalogManagers.catalogPullAsync',
  taint: 'catalogManagers.catalogTaint',
  untaint: 'catalogManagers.catalogUntaint',
  revoke: 'catalogManagers.catalogRevoke',
  describe: 'catalogManagers.catalogDescribe',
  delete: 'catalogManagers.catalogDelete',
  connect: 'catalogManagers.catalogConnect',
  addTags: 'catalogManagers.catalogAddTags',
  removeTags: 'catalogManagers.catalogRemoveTags',
  addClaims: 'catalogManagers.catalogAddClaims',
  removeClaims: 'catalogManagers.catalogRemoveClaims',
  addRoles: 'catalogManagers.catalogAddRoles',
  removeRoles: 'catalogManagers.catalogRemoveRoles',
}

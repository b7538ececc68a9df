/** What can be done with a manifest of this catalog. */
export const ownOperations = {
  pull: 'catalog.pullAsync',
  taint: 'catalog.taint',
  untaint: 'catalog.untaint',
  revoke: 'catalog.revoke',
  describe: 'catalog.describe',
  delete: 'catalog.delete',
  connect: 'catalog.connect',
  addTags: 'catalog.addTags',
  removeTags: 'catalog.removeTags',
  addClaims: 'catalog.addClaims',
  removeClaims: 'catalog.removeClaims',
  addRoles: 'catalog.addRoles',
  removeRoles: 'catalog.removeRoles',
} as const

/** What can be done with a manifest: the operation for each. */
export type ManifestOperations = Readonly<Record<keyof typeof ownOperations, string>>

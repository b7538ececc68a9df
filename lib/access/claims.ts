/**
 * Every claim of the service, by group and resource. `user` marks the claims of the role USER. `planned` marks those of
 * features that do not exist yet: users can hold them, but they grant nothing and are not listed.
 * Clients use these names, `DELET_CACHE_ITEM` included, which existing clients spell so.
 */
export const claimTable = [
  { group: 'Administration', resource: 'System', user: true, names: ['READ_ONLY', 'LIST'] },
  { group: 'Administration', resource: 'System', user: false, names: ['CREATE', 'UPDATE', 'DELETE'] },
  {
    group: 'Administration',
    resource: 'User',
    user: false,
    names: ['LIST_USER', 'CREATE_USER', 'UPDATE_USER', 'DELETE_USER'],
  },
  {
    group: 'Administration',
    resource: 'API Key',
    user: false,
    names: ['LIST_API_KEY', 'CREATE_API_KEY', 'UPDATE_API_KEY', 'DELETE_API_KEY'],
  },
  {
    group: 'Administration',
    resource: 'API Key (Own)',
    user: true,
    names: ['LIST_OWN_API_KEY', 'CREATE_OWN_API_KEY', 'UPDATE_OWN_API_KEY', 'DELETE_OWN_API_KEY'],
  },
  {
    group: 'Administration',
    resource: 'Role',
    user: false,
    names: ['LIST_ROLE', 'CREATE_ROLE', 'UPDATE_ROLE', 'DELETE_ROLE'],
  },
  {
    group: 'Administration',
    resource: 'Claim',
    user: false,
    names: ['LIST_CLAIM', 'CREATE_CLAIM', 'UPDATE_CLAIM', 'DELETE_CLAIM'],
  },
  { group: 'VMs', resource: 'VM', user: true, names: ['LIST_VM'] },
  {
    group: 'VMs',
    resource: 'VM',
    user: false,
    names: ['CREATE_VM', 'UPDATE_VM', 'UPDATE_VM_STATES', 'DELETE_VM', 'EXECUTE_COMMAND_VM'],
  },
  {
    group: 'VMs',
    resource: 'Snapshot',
    user: false,
    names: [
      'LIST_SNAPSHOT_VM',
      'CREATE_SNAPSHOT_VM',
      'DELETE_SNAPSHOT_VM',
      'DELETE_ALL_SNAPSHOTS_VM',
      'REVERT_SNAPSHOT_VM',
    ],
  },
  {
    group: 'VMs',
    resource: 'Snapshot (Own)',
    user: true,
    names: [
      'LIST_OWN_VM_SNAPSHOT',
      'CREATE_OWN_VM_SNAPSHOT',
      'DELETE_OWN_VM_SNAPSHOT',
      'DELETE_ALL_OWN_VM_SNAPSHOTS',
      'REVERT_OWN_VM_SNAPSHOT',
    ],
  },
  { group: 'VMs', resource: 'Image', user: false, names: ['LIST_IMAGE', 'CREATE_IMAGE', 'DELETE_IMAGE'] },
  { group: 'VMs', resource: 'Packer Template', user: true, planned: true, names: ['LIST_PACKER_TEMPLATE'] },
  {
    group: 'VMs',
    resource: 'Packer Template',
    user: false,
    planned: true,
    names: ['CREATE_PACKER_TEMPLATE', 'UPDATE_PACKER_TEMPLATE', 'DELETE_PACKER_TEMPLATE'],
  },
  { group: 'Catalog', resource: 'Manifest', user: true, names: ['LIST_CATALOG_MANIFEST'] },
  {
    group: 'Catalog',
    resource: 'Manifest',
    user: false,
    names: [
      'CREATE_CATALOG_MANIFEST',
      'UPDATE_CATALOG_MANIFEST',
      'DELETE_CATALOG_MANIFEST',
      'PULL_CATALOG_MANIFEST',
      'PUSH_CATALOG_MANIFEST',
      'IMPORT_CATALOG_MANIFEST',
    ],
  },
  {
    group: 'Catalog Manager',
    resource: 'Manager',
    user: false,
    names: ['CATALOG_MANAGER_LIST', 'CATALOG_MANAGER_CREATE', 'CATALOG_MANAGER_UPDATE', 'CATALOG_MANAGER_DELETE'],
  },
  {
    group: 'Catalog Manager',
    resource: 'Manager (Own)',
    user: true,
    names: [
      'CATALOG_MANAGER_LIST_OWN',
      'CATALOG_MANAGER_CREATE_OWN',
      'CATALOG_MANAGER_UPDATE_OWN',
      'CATALOG_MANAGER_DELETE_OWN',
    ],
  },
  {
    group: 'Catalog Manager',
    resource: 'Manifest (Own)',
    user: true,
    names: [
      'CATALOG_MANAGER_LIST_CATALOG_MANIFEST_OWN',
      'CATALOG_MANAGER_CREATE_CATALOG_MANIFEST_OWN',
      'CATALOG_MANAGER_UPDATE_CATALOG_MANIFEST_OWN',
      'CATALOG_MANAGER_DELETE_CATALOG_MANIFEST_OWN',
      'CATALOG_MANAGER_PULL_CATALOG_MANIFEST_OWN',
      'CATALOG_MANAGER_PUSH_CATALOG_MANIFEST_OWN',
      'CATALOG_MANAGER_IMPORT_CATALOG_MANIFEST_OWN',
    ],
  },
  {
    group: 'Reverse Proxy',
    resource: 'Host',
    user: false,
    planned: true,
    names: [
      'LIST_REVERSE_PROXY_HOSTS',
      'CREATE_REVERSE_PROXY_HOST',
      'UPDATE_REVERSE_PROXY_HOST',
      'DELETE_REVERSE_PROXY_HOST',
    ],
  },
  {
    group: 'Reverse Proxy',
    resource: 'HTTP Route',
    user: false,
    planned: true,
    names: [
      'LIST_REVERSE_PROXY_HOST_HTTP_ROUTES',
      'CREATE_REVERSE_PROXY_HOST_HTTP_ROUTE',
      'UPDATE_REVERSE_PROXY_HOST_HTTP_ROUTE',
      'DELETE_REVERSE_PROXY_HOST_HTTP_ROUTE',
    ],
  },
  {
    group: 'Reverse Proxy',
    resource: 'TCP Route',
    user: false,
    planned: true,
    names: [
      'LIST_REVERSE_PROXY_HOST_TCP_ROUTES',
      'CREATE_REVERSE_PROXY_HOST_TCP_ROUTE',
      'UPDATE_REVERSE_PROXY_HOST_TCP_ROUTE',
      'DELETE_REVERSE_PROXY_HOST_TCP_ROUTE',
    ],
  },
  { group: 'Cache', resource: 'Cache', user: true, names: ['LIST_CACHE', 'DELET_CACHE_ITEM', 'DELETE_ALL_CACHE'] },
  { group: 'Jobs', resource: 'Job', user: false, names: ['JOB_MANAGER_LIST'] },
  { group: 'Jobs', resource: 'Job', user: false, planned: true, names: ['JOB_MANAGER_DEBUG'] },
  { group: 'Jobs', resource: 'Job', user: true, names: ['JOB_MANAGER_DELETE'] },
  { group: 'Jobs', resource: 'Job (Own)', user: true, names: ['JOB_MANAGER_LIST_OWN'] },
  { group: 'Hosts', resource: 'Host', user: false, names: ['LIST_HOST', 'CREATE_HOST', 'UPDATE_HOST', 'DELETE_HOST'] },
  { group: 'SSH', resource: 'SSH', user: false, names: ['EXECUTE_SSH'] },
] as const

export type ClaimName = (typeof claimTable)[number]['names'][number]
export type RoleName = 'USER' | 'ADMIN' | 'SUPER_USER'

export const claimNames: readonly ClaimName[] = claimTable.flatMap(({ names }) => names)

/** The claims of features that do not exist yet. */
export const plannedClaims: ReadonlySet<string> = new Set(
  claimTable.flatMap(row => ('planned' in row ? [...row.names] : [])),
)

const adminClaims = claimNames.filter(name => name !== 'READ_ONLY' && name !== 'JOB_MANAGER_DEBUG')

/** The claims of each role in a new installation. */
export const roleClaims: Readonly<Record<RoleName, readonly ClaimName[]>> = {
  USER: claimTable.flatMap(({ user, names }) => (user ? names : [])),
  ADMIN: adminClaims,
  SUPER_USER: adminClaims,
}

/** The name of a claim as the service spells it: `DELETE_CACHE_ITEM` means `DELET_CACHE_ITEM`. */
export const canonicalizeClaim = (name: string): string => (name === 'DELETE_CACHE_ITEM' ? 'DELET_CACHE_ITEM' : name)

interface ProviderKind {
  /** Other names that clients use for it. */
  readonly aliases: readonly string[]
  /** Identifies the storage: the same path for each way to write its address. */
  readonly storageKey: (meta: Readonly<Record<string, string>>) => string
  /** Keys whose values are no secret: where the storage is and how it is reached. */
  readonly publicKeys: readonly string[]
  /** Names the first required key that is missing, or says in words what is wrong. */
  readonly findMissing: (meta: Readonly<Record<string, string>>) => string | undefined
}

type Meta = Readonly<Record<string, string>>

const isTrue = (value: string | undefined): boolean => value?.toLowerCase() === 'true'

const findEmptyKey = (meta: Meta, keys: readonly string[]): string | undefined =>
  keys.find(key => (meta[key] ?? '') === '')

const findMissingForBucket =
  (...keys: readonly string[]) =>
  (meta: Meta): string | undefined =>
    findEmptyKey(meta, isTrue(meta['use_environment_authentication']) ? keys : [...keys, 'access_key', 'secret_key'])

const findMissingForRepository = (meta: Meta): string | undefined => {
  const without = findEmptyKey(meta, ['url', 'repo'])
  if (without !== undefined) return without
  const [key, username, password] = ['access_key', 'username', 'password'].map(name => (meta[name] ?? '') !== '')
  if (key) return username || password ? 'an access_key or a username and password, not both' : undefined
  if (!username && !password) return 'an access_key, or a username and password'
  if (!username) return 'a username with the password'
  return password ? undefined : 'a password with the username'
}

/** Removes the scheme, the default port and trailing slashes of an address. */
const normalizeAddress = (address: string): string =>
  address
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/^([^/]*?)\.?(:(80|443))?(?=\/|$)/, '$1')
    .split('/')
    .filter(part => part !== '')
    .join('/')

/** The name of a bucket of AWS is unique, so all hosts of AWS give one key. */
const getBucketKey = ({ bucket = '', endpoint = '' }: Meta): string => {
  const host = normalizeAddress(endpoint)
  return `/s3/${host === '' || /(^|\.)amazonaws\.com(\.cn)?$/.test(host) ? 'aws' : host}/${bucket.toLowerCase()}`
}

const getContainerKey = ({
  storage_account_name: account = '',
  container_name: name = '',
  endpoint = '',
}: Meta): string => `/azure/${normalizeAddress(endpoint || `${account}.blob.core.windows.net`)}/${account}/${name}`

const getRepositoryKey = ({ url = '', repo = '' }: Meta): string =>
  `/artifactory/${normalizeAddress(url).replace(/\/artifactory$/, '')}/${normalizeAddress(repo)}`

const s3PublicKeys = [
  'bucket',
  'region',
  'endpoint',
  'use_ssl',
  'ignore_cert',
  'use_environment_authentication',
] as const

/** The kinds of storage by their names, with their connection keys. */
const providerKinds = {
  'local-storage': {
    aliases: ['local'],
    storageKey: ({ catalog_path: path = '' }) => path,
    publicKeys: ['catalog_path'],
    findMissing: () => undefined,
  },
  'aws-s3': {
    aliases: ['s3'],
    storageKey: getBucketKey,
    publicKeys: s3PublicKeys,
    findMissing: findMissingForBucket('bucket', 'region'),
  },
  minio: {
    aliases: [],
    storageKey: getBucketKey,
    publicKeys: s3PublicKeys,
    findMissing: findMissingForBucket('bucket', 'endpoint'),
  },
  'azure-storage-account': {
    aliases: ['azure', 'azurestorageprovider'],
    storageKey: getContainerKey,
    publicKeys: ['storage_account_name', 'container_name', 'endpoint'],
    findMissing: meta => findEmptyKey(meta, ['storage_account_name', 'container_name', 'storage_account_key']),
  },
  artifactory: {
    aliases: [],
    storageKey: getRepositoryKey,
    publicKeys: ['url', 'repo', 'port'],
    findMissing: findMissingForRepository,
  },
  oci: {
    aliases: [],
    storageKey: ({ registry = '', repository = '' }) =>
      `/oci/${normalizeAddress(registry)}/${repository.toLowerCase()}`,
    publicKeys: ['registry', 'repository', 'mount_from'],
    findMissing: meta => findEmptyKey(meta, ['registry', 'repository']),
  },
} as const satisfies Readonly<Record<string, ProviderKind>>

export type ProviderType = keyof typeof providerKinds

export const providerTypes = Object.keys(providerKinds) as readonly ProviderType[]

export const getProviderKind = (type: ProviderType): ProviderKind => providerKinds[type]

/** Finds the type of a name or an alias, in any case; undefined for an unknown one. */
export const findProviderType = (name: string): ProviderType | undefined => {
  const wanted = name.trim().toLowerCase()
  return providerTypes.find(type => type === wanted || getProviderKind(type).aliases.includes(wanted))
}

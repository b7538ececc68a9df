interface ProviderKind {
  /** Other names that clients of the field use. */
  readonly also: readonly string[]
  /** Where the storage is, as a path that is the same for all ways to write it. */
  readonly place: (meta: Readonly<Record<string, string>>) => string
  /** Keys whose values say where the storage is and how it is reached, and are no secret. */
  readonly shown: readonly string[]
  /** What it needs and these keys do not say, in words. */
  readonly missing: (meta: Readonly<Record<string, string>>) => string | undefined
}

type Meta = Readonly<Record<string, string>>

const isOn = (value: string | undefined): boolean => value?.toLowerCase() === 'true'

const firstOf = (meta: Meta, keys: readonly string[]): string | undefined => keys.find(key => (meta[key] ?? '') === '')

const ofBucket =
  (...keys: readonly string[]) =>
  (meta: Meta): string | undefined =>
    firstOf(meta, isOn(meta['use_environment_authentication']) ? keys : [...keys, 'access_key', 'secret_key'])

const ofRepository = (meta: Meta): string | undefined => {
  const without = firstOf(meta, ['url', 'repo'])
  if (without !== undefined) return without
  const [key, username, password] = ['access_key', 'username', 'password'].map(name => (meta[name] ?? '') !== '')
  if (key) return username || password ? 'an access_key or a username and password, not both' : undefined
  if (!username && !password) return 'an access_key, or a username and password'
  if (!username) return 'a username with the password'
  return password ? undefined : 'a password with the username'
}

/** An address without its scheme, slashes at its end and the ports that schemes have by themselves. */
const placeIn = (address: string): string =>
  address
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/^([^/]*?)\.?(:(80|443))?(?=\/|$)/, '$1')
    .split('/')
    .filter(part => part !== '')
    .join('/')

/** Buckets of AWS are of one name each, whichever of its hosts is asked. */
const placeOfBucket = ({ bucket = '', endpoint = '' }: Meta): string => {
  const host = placeIn(endpoint)
  return `/s3/${host === '' || /(^|\.)amazonaws\.com(\.cn)?$/.test(host) ? 'aws' : host}/${bucket.toLowerCase()}`
}

const placeOfContainer = ({
  storage_account_name: account = '',
  container_name: name = '',
  endpoint = '',
}: Meta): string => `/azure/${placeIn(endpoint || `${account}.blob.core.windows.net`)}/${account}/${name}`

const placeOfRepository = ({ url = '', repo = '' }: Meta): string =>
  `/artifactory/${placeIn(url).replace(/\/artifactory$/, '')}/${placeIn(repo)}`

const ofS3 = ['bucket', 'region', 'endpoint', 'use_ssl', 'ignore_cert', 'use_environment_authentication'] as const

/** Where packs can be kept: by its name, what each kind of storage needs (the wire's keys). */
const providerKinds = {
  'local-storage': {
    also: ['local'],
    place: ({ catalog_path: path = '' }) => path,
    shown: ['catalog_path'],
    missing: () => undefined,
  },
  'aws-s3': {
    also: ['s3'],
    place: placeOfBucket,
    shown: ofS3,
    missing: ofBucket('bucket', 'region'),
  },
  minio: {
    also: [],
    place: placeOfBucket,
    shown: ofS3,
    missing: ofBucket('bucket', 'endpoint'),
  },
  'azure-storage-account': {
    also: ['azure', 'azurestorageprovider'],
    place: placeOfContainer,
    shown: ['storage_account_name', 'container_name', 'endpoint'],
    missing: meta => firstOf(meta, ['storage_account_name', 'container_name', 'storage_account_key']),
  },
  artifactory: { also: [], place: placeOfRepository, shown: ['url', 'repo', 'port'], missing: ofRepository },
  oci: {
    also: [],
    place: ({ registry = '', repository = '' }) => `/oci/${placeIn(registry)}/${repository.toLowerCase()}`,
    shown: ['registry', 'repository', 'mount_from'],
    missing: meta => firstOf(meta, ['registry', 'repository']),
  },
} as const satisfies Readonly<Record<string, ProviderKind>>

export type ProviderType = keyof typeof providerKinds

export const providerTypes = Object.keys(providerKinds) as readonly ProviderType[]

export const kindOf = (type: ProviderType): ProviderKind => providerKinds[type]

/** The kind that a name means, in any case; undefined for none. */
export const providerTypeOf = (name: string): ProviderType | undefined => {
  const wanted = name.trim().toLowerCase()
  return providerTypes.find(type => type === wanted || kindOf(type).also.includes(wanted))
}

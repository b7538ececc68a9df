interface ProviderKind {
  /** Other names that clients of the field use. */
  readonly also: readonly string[]
  /** Keys whose values say where the storage is. */
  readonly place: readonly string[]
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

const ofS3 = ['bucket', 'region', 'endpoint', 'use_ssl', 'ignore_cert', 'use_environment_authentication'] as const

/** Where packs can be kept: by its name, what each kind of storage needs (the wire's keys). */
const providerKinds = {
  'local-storage': { also: ['local'], place: ['catalog_path'], shown: ['catalog_path'], missing: () => undefined },
  'aws-s3': {
    also: ['s3'],
    place: ['bucket', 'endpoint'],
    shown: ofS3,
    missing: ofBucket('bucket', 'region'),
  },
  minio: {
    also: [],
    place: ['bucket', 'endpoint'],
    shown: ofS3,
    missing: ofBucket('bucket', 'endpoint'),
  },
  'azure-storage-account': {
    also: ['azure', 'azurestorageprovider'],
    place: ['storage_account_name', 'container_name', 'endpoint'],
    shown: ['storage_account_name', 'container_name', 'endpoint'],
    missing: meta => firstOf(meta, ['storage_account_name', 'container_name', 'storage_account_key']),
  },
  artifactory: { also: [], place: ['url', 'repo'], shown: ['url', 'repo', 'port'], missing: ofRepository },
  oci: {
    also: [],
    place: ['registry', 'repository'],
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

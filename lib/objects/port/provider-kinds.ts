import type * as z from 'zod'
import { keysOf } from '#lib/keys-of.ts'
import {
  AwsSettings,
  ContainerSettings,
  LocalSettings,
  MinioSettings,
  RegistrySettings,
  RepositorySettings,
} from './provider-settings.ts'

interface Kind<Schema extends z.ZodType> {
  /** Other names that clients use for it. */
  readonly aliases: readonly string[]
  /** The settings of a connection. Other settings are stored and have no effect. */
  readonly settings: Schema
  /** Identifies the storage: the same path for each way to write its address. */
  readonly storageKey: (settings: Readonly<Partial<z.input<Schema>>>) => string
  /** Settings that are no secret: where the storage is and how it is reached. */
  readonly publicKeys: readonly (keyof z.input<Schema>)[]
}

/** Binds the members of a kind to its schema. */
const defineKind = <Schema extends z.ZodType>(kind: Kind<Schema>): Kind<Schema> => kind

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
const getBucketKey = ({
  bucket = '',
  endpoint = '',
}: {
  readonly bucket?: string | undefined
  readonly endpoint?: string | undefined
}): string => {
  const host = normalizeAddress(endpoint)
  return `/s3/${host === '' || /(^|\.)amazonaws\.com(\.cn)?$/.test(host) ? 'aws' : host}/${bucket.toLowerCase()}`
}

const getContainerKey = ({
  storage_account_name: account = '',
  container_name: name = '',
  endpoint = '',
}: Readonly<Partial<ContainerSettings>>): string =>
  `/azure/${normalizeAddress(endpoint || `${account}.blob.core.windows.net`)}/${account}/${name}`

const getRepositoryKey = ({ url = '', repo = '' }: Readonly<Partial<RepositorySettings>>): string =>
  `/artifactory/${normalizeAddress(url).replace(/\/artifactory$/, '')}/${normalizeAddress(repo)}`

const s3PublicKeys = [
  'bucket',
  'region',
  'endpoint',
  'use_ssl',
  'ignore_cert',
  'use_environment_authentication',
] as const

/** The kinds of storage by their names. */
const providerKinds = {
  'local-storage': defineKind({
    aliases: ['local'],
    settings: LocalSettings,
    storageKey: ({ catalog_path: path = '' }) => path,
    publicKeys: ['catalog_path'],
  }),
  'aws-s3': defineKind({
    aliases: ['s3'],
    settings: AwsSettings,
    storageKey: getBucketKey,
    publicKeys: s3PublicKeys,
  }),
  minio: defineKind({
    aliases: [],
    settings: MinioSettings,
    storageKey: getBucketKey,
    publicKeys: s3PublicKeys,
  }),
  'azure-storage-account': defineKind({
    aliases: ['azure', 'azurestorageprovider'],
    settings: ContainerSettings,
    storageKey: getContainerKey,
    publicKeys: ['storage_account_name', 'container_name', 'endpoint'],
  }),
  artifactory: defineKind({
    aliases: [],
    settings: RepositorySettings,
    storageKey: getRepositoryKey,
    publicKeys: ['url', 'repo', 'port'],
  }),
  oci: defineKind({
    aliases: [],
    settings: RegistrySettings,
    storageKey: ({ registry = '', repository = '' }) =>
      `/oci/${normalizeAddress(registry)}/${repository.toLowerCase()}`,
    publicKeys: ['registry', 'repository', 'mount_from'],
  }),
}

/** A kind as those see it who handle all kinds alike. */
interface ProviderKind {
  readonly aliases: readonly string[]
  readonly settings: z.ZodType
  readonly storageKey: (settings: Readonly<Record<string, string>>) => string
  readonly publicKeys: readonly string[]
}

export type ProviderType = keyof typeof providerKinds

export const providerTypes: readonly ProviderType[] = keysOf(providerKinds)

export const getProviderKind = (type: ProviderType): ProviderKind => providerKinds[type]

/** Finds the type of a name or an alias, in any case; undefined for an unknown one. */
export const findProviderType = (name: string): ProviderType | undefined => {
  const wanted = name.trim().toLowerCase()
  return providerTypes.find(type => type === wanted || getProviderKind(type).aliases.includes(wanted))
}

import { createInvalidConnectionError, parseSettings, type Storage } from '../port/connection.ts'
import { ContainerSettings } from '../port/provider-settings.ts'
import type { SharedKey } from './shared-key.ts'

/** The address of a container and of its blobs, with the key of the account. */
export interface ContainerEndpoint {
  readonly host: string
  readonly sharedKey: SharedKey
  /** The address of a blob, or with `''` of the container. */
  url(name: string, query?: Readonly<Record<string, string>>): URL
}

/** The URL of the blob service of an account: that of the public cloud, or `endpoint` for other clouds and emulators. */
const getServiceUrl = (account: string, endpoint: string | undefined): string => {
  if (endpoint === undefined) return `https://${account}.blob.core.windows.net`
  const address = (/^https?:\/\//i.test(endpoint) ? endpoint : `https://${endpoint}`).replace(/\/+$/, '')
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    throw createInvalidConnectionError(
      'endpoint is the address of a blob service, such as https://account.blob.core.windows.net',
    )
  return address
}

const encodeComponent = (text: string): string => encodeURIComponent(text).replaceAll("'", '%27')

/** Gives the endpoint of the container of a connection. Throws `invalid`. */
export const parseContainerEndpoint = (storage: Storage): ContainerEndpoint => {
  const {
    storage_account_name: account,
    container_name: container,
    storage_account_key: key,
    endpoint,
  } = parseSettings(ContainerSettings, storage)
  if (!/^[a-z0-9]{3,24}$/.test(account))
    throw createInvalidConnectionError('storage_account_name is not the name of an account')
  if (!/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(container))
    throw createInvalidConnectionError('container_name is not the name of a container')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(key)) throw createInvalidConnectionError('storage_account_key is not in base64')
  const base = `${getServiceUrl(account, endpoint)}/${container}`
  return {
    host: new URL(base).host,
    sharedKey: { account, key },
    url(name, query = {}) {
      const url = new URL(name === '' ? base : `${base}/${name.split('/').map(encodeComponent).join('/')}`)
      url.search = Object.entries(query)
        .map(([parameter, value]) => `${parameter}=${encodeComponent(value)}`)
        .join('&')
      return url
    },
  }
}

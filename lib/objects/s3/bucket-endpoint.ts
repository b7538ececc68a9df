import { ServiceError } from '#lib/errors.ts'
import type { BucketSettings } from '../port/provider-settings.ts'

export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** The address of a bucket and of its objects. */
export interface BucketEndpoint {
  readonly host: string
  readonly region: string
  /** The address of an object, or with `''` of the bucket. */
  url(key: string, query?: Readonly<Record<string, string>>): URL
}

const createInvalidEndpointError = (why: string): ServiceError =>
  new ServiceError('invalid', `The connection is not valid: ${why}.`)

/** URI encoding of AWS SigV4: everything but letters, digits and `-._~`. */
const encodeComponent = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, found => `%${found.charCodeAt(0).toString(16).toUpperCase()}`)

/** The scheme is that of `use_ssl`, else that of the endpoint, else the default. */
const parseOrigin = (endpoint: string, useSsl: boolean | undefined, defaultScheme: 'http' | 'https'): string => {
  const [, scheme, authority] = /^(?:(https?):\/\/)?(.*?)\/?$/i.exec(endpoint) ?? []
  const ssl = useSsl ?? (scheme?.toLowerCase() ?? defaultScheme) === 'https'
  const address = `${ssl ? 'https' : 'http'}://${authority}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '')
    throw createInvalidEndpointError(
      'endpoint is the address of a server, such as https://minio.example:9000, without a path',
    )
  return url.origin
}

/** Gives the endpoint of the bucket of a connection. Throws `invalid`. */
export const parseBucketEndpoint = (
  { bucket, region = 'us-east-1', endpoint, use_ssl }: BucketSettings,
  defaultScheme: 'http' | 'https',
): BucketEndpoint => {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket))
    throw createInvalidEndpointError('bucket is not the name of one')
  if (!/^[a-z0-9-]{1,32}$/.test(region)) throw createInvalidEndpointError('region is not the name of one')
  const aws = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  // Certificates of AWS cover one label before the name, and host names have no capitals; other buckets go into the path.
  const base =
    endpoint !== undefined
      ? `${parseOrigin(endpoint, use_ssl, defaultScheme)}/${bucket}`
      : /^[a-z0-9-]+$/.test(bucket)
        ? `https://${bucket}.${aws}`
        : `https://${aws}/${bucket}`
  return {
    host: new URL(base).host,
    region,
    url(key, query = {}) {
      const url = new URL(key === '' ? base : `${base}/${key.split('/').map(encodeComponent).join('/')}`)
      url.search = Object.entries(query)
        .map(([name, value]) => `${name}=${encodeComponent(value)}`)
        .join('&')
      return url
    },
  }
}

/** Gives the credentials of a connection, or those of the environment when the connection says so. Throws `invalid`. */
export const getCredentials = (settings: BucketSettings, environment: NodeJS.ProcessEnv): Credentials => {
  const fromEnvironment = settings.use_environment_authentication === true
  const [accessKeyId, secretAccessKey, sessionToken] = fromEnvironment
    ? ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'].map(name => environment[name])
    : [settings.access_key, settings.secret_key, settings.session_token]
  if (!accessKeyId || !secretAccessKey)
    throw createInvalidEndpointError(
      fromEnvironment
        ? 'it wants the credentials of the environment, and this service was started without AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; roles of EC2 instances and ECS containers are not supported'
        : 'it needs access_key and secret_key',
    )
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
}

import { ServiceError } from '#lib/errors.ts'
import type { Storage } from '../../connection.ts'

export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** A bucket, and how its objects are addressed. */
export interface Place {
  readonly host: string
  readonly region: string
  /** The address of an object, or with `''` of the bucket. */
  url(key: string, query?: Readonly<Record<string, string>>): URL
}

const bad = (why: string): ServiceError => new ServiceError('invalid', `The connection is not valid: ${why}.`)

export const isOn = (value: string | undefined): boolean => value?.toLowerCase() === 'true'

/** As the signature wants it (AWS SigV4, URI encoding): all but letters, digits and `-._~`. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, found => `%${found.charCodeAt(0).toString(16).toUpperCase()}`)

/** `use_ssl` decides, else the scheme that `endpoint` is written with, else what is usual for the type. */
const originOf = ({ type, meta }: Storage): string => {
  const [, scheme, place] = /^(?:(https?):\/\/)?(.*?)\/?$/i.exec(meta['endpoint']!)!
  const usual = scheme?.toLowerCase() ?? (type === 'minio' ? 'http' : 'https')
  const ssl = meta['use_ssl'] === undefined ? usual === 'https' : isOn(meta['use_ssl'])
  const address = `${ssl ? 'https' : 'http'}://${place}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '')
    throw bad('endpoint is the address of a server, such as https://minio.example:9000, without a path')
  return url.origin
}

/** Where the bucket of a connection is. Throws `invalid`. */
export const placeOf = (storage: Storage): Place => {
  const { meta } = storage
  const [bucket = '', region = 'us-east-1'] = [meta['bucket'], meta['region']]
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket)) throw bad('bucket is not the name of one')
  if (!/^[a-z0-9-]{1,32}$/.test(region)) throw bad('region is not the name of one')
  const aws = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  // A certificate of AWS holds for one label before its name, and names in URLs have no capitals.
  const base =
    meta['endpoint'] !== undefined
      ? `${originOf(storage)}/${bucket}`
      : /^[a-z0-9-]+$/.test(bucket)
        ? `https://${bucket}.${aws}`
        : `https://${aws}/${bucket}`
  return {
    host: new URL(base).host,
    region,
    url(key, query = {}) {
      const url = new URL(key === '' ? base : `${base}/${key.split('/').map(encoded).join('/')}`)
      url.search = Object.entries(query)
        .map(([name, value]) => `${name}=${encoded(value)}`)
        .join('&')
      return url
    },
  }
}

/** The credentials of a connection, or where it says so of the environment. Throws `invalid`. */
export const credentialsOf = ({ meta }: Storage, environment: NodeJS.ProcessEnv): Credentials => {
  const fromEnvironment = isOn(meta['use_environment_authentication'])
  const [accessKeyId, secretAccessKey, sessionToken] = fromEnvironment
    ? ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'].map(name => environment[name])
    : ['access_key', 'secret_key', 'session_token'].map(name => meta[name])
  if (!accessKeyId || !secretAccessKey)
    throw bad(
      fromEnvironment
        ? 'it wants the credentials of the environment, and this service was started without AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; roles of EC2 instances and ECS containers are not supported'
        : 'it needs access_key and secret_key',
    )
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
}

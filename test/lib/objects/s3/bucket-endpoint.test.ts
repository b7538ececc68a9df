import { describe, expect, test } from 'vitest'
import { parseSettings } from '#lib/objects/port/connection.ts'
import { AwsSettings, MinioSettings } from '#lib/objects/port/provider-settings.ts'
import { getCredentials, parseBucketEndpoint } from '#lib/objects/s3/bucket-endpoint.ts'

const own = { access_key: 'A', secret_key: 'S', session_token: 'T' }
const readAws = (meta: Record<string, string>) =>
  parseSettings(AwsSettings, { type: 'aws-s3', meta: { region: 'eu-central-1', ...meta } })
const readMinio = (meta: Record<string, string>) =>
  parseSettings(MinioSettings, { type: 'minio', meta: { bucket: 'packs', ...meta } })
const aws = (meta: Record<string, string>) => parseBucketEndpoint(readAws({ ...own, ...meta }), 'https')
const minio = (meta: Record<string, string>) => parseBucketEndpoint(readMinio({ ...own, ...meta }), 'http')

describe('the endpoint of a bucket', () => {
  test.each([
    [{ bucket: 'packs' }, 'https://packs.s3.eu-central-1.amazonaws.com/a'],
    [{ bucket: 'packs.example' }, 'https://s3.eu-central-1.amazonaws.com/packs.example/a'],
    [{ bucket: 'Packs' }, 'https://s3.eu-central-1.amazonaws.com/Packs/a'],
    [{ bucket: 'packs', region: 'cn-north-1' }, 'https://packs.s3.cn-north-1.amazonaws.com.cn/a'],
    [{ bucket: 'packs', endpoint: 's3.example.test' }, 'https://s3.example.test/packs/a'],
    [{ bucket: 'packs', endpoint: 'http://localhost:9000' }, 'http://localhost:9000/packs/a'],
  ])('of AWS: %j', (meta, url) => expect(aws(meta).url('a').href).toBe(url))

  test.each([
    [{ endpoint: 'minio:9000' }, 'http://minio:9000/packs/a'],
    [{ endpoint: 'minio:9000', use_ssl: 'true' }, 'https://minio:9000/packs/a'],
    [{ endpoint: 'minio:9000', use_ssl: 'TRUE' }, 'https://minio:9000/packs/a'],
    [{ endpoint: 'http://minio:9000/', use_ssl: 'true' }, 'https://minio:9000/packs/a'],
    [{ endpoint: 'https://minio' }, 'https://minio/packs/a'],
    [{ endpoint: 'https://minio', use_ssl: 'false' }, 'http://minio/packs/a'],
    [{ endpoint: '[::1]:9000' }, 'http://[::1]:9000/packs/a'],
  ])('of MinIO: %j', (meta, url) => expect(minio(meta).url('a').href).toBe(url))

  test.each([
    { endpoint: 'minio/prefix' },
    { endpoint: 'key:secret@minio' },
    { endpoint: 'ftp://minio' },
    { endpoint: 'minio?a=b' },
    { endpoint: '' },
    { endpoint: 'minio', bucket: '../other' },
    { endpoint: 'minio', bucket: 'a/b' },
    { endpoint: 'minio', region: 'evil.example/' },
  ])('is refused: %j', meta =>
    expect(() => minio(meta)).toThrow(expect.objectContaining({ fault: 'invalid' }) as Error),
  )

  test('encodes keys and queries as the signature needs it', () =>
    expect(aws({ bucket: 'packs' }).url("a b/ü+&=%20!'()*~", { prefix: 'a b/+', uploads: '' }).href).toBe(
      'https://packs.s3.eu-central-1.amazonaws.com/a%20b/%C3%BC%2B%26%3D%2520%21%27%28%29%2A~?prefix=a%20b%2F%2B&uploads=',
    ))
})

test('gives the credentials of a connection or of the environment', () => {
  const environment = { AWS_ACCESS_KEY_ID: 'EA', AWS_SECRET_ACCESS_KEY: 'ES', AWS_SESSION_TOKEN: 'ET' }
  expect(getCredentials(readAws({ bucket: 'packs', ...own }), environment)).toEqual({
    accessKeyId: 'A',
    secretAccessKey: 'S',
    sessionToken: 'T',
  })
  const asked = { bucket: 'packs', ...own, use_environment_authentication: 'true' }
  expect(getCredentials(readAws(asked), environment)).toEqual({
    accessKeyId: 'EA',
    secretAccessKey: 'ES',
    sessionToken: 'ET',
  })
  expect(() => readAws({ bucket: 'packs', access_key: 'A' })).toThrow('secret_key')
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Storage } from '#lib/catalog/connection.ts'
import { createFetcher, type Fetcher } from '#lib/catalog/providers/http/send.ts'
import { createS3 } from '#lib/catalog/providers/s3.ts'
import { providerContract } from '../../../contracts/provider.ts'
import { type S3Server, startS3Server, withoutS3 } from '../../../support/s3-server.ts'

const MiB = 1024 * 1024

const storageAt = ({ endpoint, accessKey, secretKey }: S3Server, bucket: string, more = {}): Storage => ({
  type: 'minio',
  meta: { bucket, endpoint, access_key: accessKey, secret_key: secretKey, ...more },
})

/** Counts the bytes that go out. */
const counting = () => {
  const fetcher = createFetcher()
  let sent = 0
  const count: Fetcher = ask => {
    sent += ask.body?.length ?? 0
    return fetcher(ask)
  }
  return { fetcher: count, sent: () => sent }
}

describe.skipIf(withoutS3)('S3, against versitygw (left out where neither it nor Go is installed)', () => {
  let server: S3Server
  beforeAll(async () => {
    server = await startS3Server()
  }, 600_000)
  afterAll(() => server[Symbol.asyncDispose]())

  const { fetcher, sent } = counting()
  providerContract(async () => createS3(storageAt(server, await server.newBucket()), fetcher), 8 * MiB, sent)
})

/** A program for workerd: runs the contract of providers on a real server, of which the test hands out empty places. */
import { createFetchFetcher } from '#lib/objects/http/send-over-fetch.ts'
import type { Storage } from '#lib/objects/port/connection.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { createRemoteKinds } from '#lib/objects/remote-kinds.ts'
import { providerContract } from '../../contracts/provider.ts'
import { countingFetcher } from '../../support/counting-fetcher.ts'
import { runTests } from '../../support/workerd/vitest.ts'

type RemoteType = Exclude<Storage['type'], 'local-storage'>

/** What the test asks for. */
export interface ProvidersRequest {
  readonly type: RemoteType
  /** Where an empty place is had. */
  readonly places: string
}

const MiB = 1024 * 1024
/** Bytes of a part, and how writes resume. */
const contracts = {
  s3: [8 * MiB, { resume: 'reads all' }],
  'azure-storage-account': [8 * MiB, { resume: 'reads all' }],
  oci: [16 * MiB, { resume: 'reads all' }],
  artifactory: [MiB, { resume: 'starts again', keepsSha256: false }],
} as const

const register = ({ type, places }: ProvidersRequest): void => {
  const { fetcher, sent } = countingFetcher(createFetchFetcher())
  const kind = createRemoteKinds(() => fetcher)[type]!
  let last: Storage
  const reopen = (): Promise<Provider> => kind.open(last)
  const open = async (): Promise<Provider> => {
    // What the test serves there.
    last = (await (await fetch(places)).json()) as Storage
    return reopen()
  }
  const [partSize, options] = contracts[type === 'minio' || type === 'aws-s3' ? 's3' : type]
  const counts = partSize === 8 * MiB
  providerContract(open, reopen, partSize, { ...options, ...(counts && { sent }) })
}

export default {
  async fetch(request: Request): Promise<Response> {
    // What the test sends.
    register((await request.json()) as ProvidersRequest)
    return Response.json(await runTests())
  },
}

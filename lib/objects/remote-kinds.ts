import { createArtifactory } from './artifactory/artifactory.ts'
import { createAzure } from './azure/azure.ts'
import type { CreateFetcher } from './http/fetcher.ts'
import { createOci } from './oci/oci.ts'
import type { StorageKind, StorageKinds } from './port/storage-kind.ts'
import { createS3 } from './s3/s3.ts'

/**
 * Lists the kinds of storage that other servers offer.
 * @param createFetcher makes what sends their requests
 * @param environment has the credentials for connections that use those of the environment
 */
export const createRemoteKinds = (createFetcher: CreateFetcher, environment: NodeJS.ProcessEnv = {}): StorageKinds => {
  const s3: StorageKind = { open: storage => createS3(storage, createFetcher, environment) }
  const fetcher = createFetcher()
  return {
    'aws-s3': s3,
    minio: s3,
    'azure-storage-account': { open: storage => createAzure(storage, fetcher) },
    artifactory: { open: storage => createArtifactory(storage, fetcher) },
    oci: { open: storage => createOci(storage, { fetcher }) },
  }
}

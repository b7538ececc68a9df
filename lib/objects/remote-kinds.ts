import type { CreateFetcher } from './http/fetcher.ts'
import type { StorageKind, StorageKinds } from './port/storage-kind.ts'

/**
 * Lists the kinds of storage that other servers offer. The code of a kind is loaded with its first storage, because the start of
 * the edge loads everything else.
 * @param createFetcher makes what sends their requests
 * @param environment has the credentials for connections that use those of the environment
 */
export const createRemoteKinds = (createFetcher: CreateFetcher, environment: NodeJS.ProcessEnv = {}): StorageKinds => {
  const fetcher = createFetcher()
  const s3: StorageKind = {
    async open(storage) {
      const { createS3 } = await import('./s3/s3.ts')
      return createS3(storage, createFetcher, environment)
    },
  }
  return {
    'aws-s3': s3,
    minio: s3,
    'azure-storage-account': {
      async open(storage) {
        const { createAzure } = await import('./azure/azure.ts')
        return createAzure(storage, fetcher)
      },
    },
    artifactory: {
      async open(storage) {
        const { createArtifactory } = await import('./artifactory/artifactory.ts')
        return createArtifactory(storage, fetcher)
      },
    },
    oci: {
      async open(storage) {
        const { createOci } = await import('./oci/oci.ts')
        return createOci(storage, { fetcher })
      },
    },
  }
}

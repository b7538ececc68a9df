import { createLocalKind, type LocalOptions } from './local/local-kind.ts'
import { createFetcher } from './http/send.ts'
import { createRemoteKinds } from './remote-kinds.ts'
import { createStorages, type Storages } from './storages.ts'

interface Options extends LocalOptions {
  /** Has the credentials for connections that use those of the environment. */
  readonly environment?: NodeJS.ProcessEnv
}

/** Opens storages of all kinds: those of other servers, and the folders of this host. */
export const createHostStorages = ({ environment, ...local }: Options): Storages =>
  createStorages({ ...createRemoteKinds(createFetcher, environment), 'local-storage': createLocalKind(local) })

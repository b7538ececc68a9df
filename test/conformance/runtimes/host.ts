import { tmpdir } from 'node:os'
import { newState, startService } from '../../support/service.ts'
import { allowedOrigin, rootPassword, type Running } from './runtime.ts'

interface HostOptions {
  /** The program; the bundle with Node when left out. */
  readonly command?: readonly string[]
  /** The hypervisor; embedded when left out. */
  readonly driver?: 'qemu' | undefined
  /** Settings beside those of every run. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a program of a host on a socket: the bundle with Node, or the executable. */
export const startHost = async ({ command, driver, env }: HostOptions = {}): Promise<Running> => {
  const state = newState()
  const service = await startService({
    state: state.path,
    ...(command && { command }),
    ...(driver && { driver }),
    env: {
      VMHOST_ROOT_PASSWORD: rootPassword,
      VMHOST_LISTEN: 'http://127.0.0.1:0',
      VMHOST_DEMO: 'off',
      VMHOST_BACKUP_HOURS: '0',
      VMHOST_CORS_ORIGINS: allowedOrigin,
      VMHOST_OUTGOING_ADDRESSES: '127.0.0.1',
      VMHOST_ALLOWED_FOLDERS: tmpdir(),
      ...env,
    },
  })
  return {
    url: service.url,
    fetch: (path, init) => fetch(service.url + path, init),
    known: { [service.url]: 'URL', [state.path]: 'STATE' },
    async [Symbol.asyncDispose]() {
      await service.stop()
      state[Symbol.dispose]()
    },
  }
}

import type { Principal } from '#lib/access/principal.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { ServiceError } from '#lib/errors.ts'
import type { StoredHost } from '../stored-host.ts'
import { fanOutTimeout } from './find-machine.ts'
import type { AskHost } from './host-client.ts'

/**
 * Finds the first of some hosts that has a pack, named by its SHA-256, in its cache for a user. Undefined if none says so in two
 * seconds: then the pack is fetched.
 */
export type FindCachingHost = (
  hosts: readonly StoredHost[],
  sha256: string,
  user: Principal,
  signal: AbortSignal,
) => Promise<StoredHost | undefined>

const hasPack = (list: unknown, sha256: string): boolean =>
  Array.isArray(list) && list.some((item: unknown) => Reflect.get(Object(item), 'cache_file_name') === sha256)

export const createFindCachingHost =
  (ask: AskHost): FindCachingHost =>
  async (hosts, sha256, user, signal) => {
    // The host still lists only what this user may have. The right to list is this service's own.
    const asker = { ...user, claims: new Set([...user.claims, 'LIST_CACHE']) }
    const request = { method: 'GET', path: toServedPath('/v1/catalog/cache'), signal, timeout: fanOutTimeout }
    const found = await Promise.all(
      hosts.map(async host => {
        try {
          const { status, body } = await ask(host, asker, request)
          return status === 200 && hasPack(body, sha256)
        } catch (error) {
          signal.throwIfAborted()
          // Any other error is a defect of this service.
          if (!(error instanceof ServiceError)) throw error
          return false
        }
      }),
    )
    return hosts[found.indexOf(true)]
  }

import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { HostTable } from '../host-table.ts'
import type { StoredHost } from '../stored-host.ts'
import type { AskEveryHost } from './every-host.ts'
import { listAtHosts } from './list-at-hosts.ts'

interface Options {
  readonly table: Pick<HostTable, 'list'>
  readonly askEveryHost: AskEveryHost
}

/** The images that the body of a request for a new machine names. */
export const listImagesOfBody = (body: unknown): readonly string[] => {
  const { image, disks = [], cdroms = [] }: { image?: unknown; disks?: unknown; cdroms?: unknown } = Object(body)
  const parts: readonly unknown[] = [
    { image },
    ...(Array.isArray(disks) ? disks : []),
    ...(Array.isArray(cdroms) ? cdroms : []),
  ]
  return parts.flatMap(part => {
    const { image: reference }: { image?: unknown } = Object(part)
    return typeof reference === 'string' ? [reference] : []
  })
}

/** Finds the hosts of images. Each host has its own, so the same name may be an image on several. */
export interface ImageHosts {
  /** The hosts that have all of these images. Throws `not-found` when none of those that answer has them. */
  findAll(
    references: readonly string[],
    user: Principal,
    signal?: AbortSignal,
  ): Promise<readonly [StoredHost, ...StoredHost[]]>
  /** The one host that has an image. Throws `not-found`, and `conflict` when several have it. */
  findOne(reference: string, user: Principal, signal?: AbortSignal): Promise<StoredHost>
  /** The host of a request that names none although only its caller can know it. Throws `invalid` when there are several. */
  findOnly(): StoredHost
}

const isNamed = (reference: string, item: unknown): boolean => {
  const { id, name, digest, sha256 }: Record<string, unknown> = Object(item)
  const wanted = reference.toLowerCase()
  return [id, name, digest, sha256].some(text => typeof text === 'string' && text.toLowerCase() === wanted)
}

export const createImageHosts = ({ table, askEveryHost }: Options): ImageHosts => {
  const findAll: ImageHosts['findAll'] = async (references, user, signal) => {
    const { lists, hint } = await listAtHosts(askEveryHost, { path: '/v1/images', claim: 'LIST_IMAGE' }, user, signal)
    const [first, ...others] = lists
      .filter(({ items }) => references.every(reference => items.some(image => isNamed(reference, image))))
      .map(({ host }) => host)
    if (first) return [first, ...others]
    throw new ServiceError(
      'not-found',
      references.length === 1
        ? `There is no image with the name, id or digest ${references[0]}.${hint}`
        : `There is no host with all of the images ${references.join(', ')}.${hint}`,
    )
  }
  return {
    findAll,
    async findOne(reference, user, signal) {
      const [host, ...others] = await findAll([reference], user, signal)
      if (others.length === 0) return host
      throw new ServiceError(
        'conflict',
        `The hosts ${[host, ...others].map(({ name }) => name).join(' and ')} have an image ${reference} each. Name one of them with ?host=NAME.`,
      )
    },
    findOnly() {
      const [host, ...others] = table.list()
      if (host && others.length === 0) return host
      throw new ServiceError(
        'invalid',
        'Name the host that gets the file, with ?host=NAME: all ranges must go to the same.',
      )
    },
  }
}

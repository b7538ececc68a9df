import type { RequestContext } from '#lib/http/context.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { HostTable } from '../host-table.ts'
import type { StoredHost } from '../stored-host.ts'
import type { FindMachineHost } from './find-machine.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { type ImageHosts, listImagesOfBody } from './image-hosts.ts'
import { rankHosts } from './placement.ts'
import { type FindPoolHost, readPoolNeeds } from './pool-hosts.ts'

/** What the body of a forwarded request says about the host that it needs. */
interface PlacedBody {
  readonly uuid?: string | undefined
  readonly architecture?: string | undefined
}

/**
 * Chooses the host of a request: the one that it names, that of its machine or image, or one that can take what it makes. Throws
 * `not-found`, `conflict`, `invalid` and `unavailable` if there is none.
 */
export type ChooseHost = (route: Route, context: RequestContext, request: ForwardedRequest) => Promise<StoredHost>

interface Options {
  readonly table: Pick<HostTable, 'list' | 'find' | 'isAnswering'>
  readonly findMachineHost: FindMachineHost
  readonly imageHosts: ImageHosts
  readonly findPoolHost: FindPoolHost
}

export const createChooseHost = ({ table, findMachineHost, imageHosts, findPoolHost }: Options): ChooseHost => {
  /** The host of a request about an image; undefined for a pull, which any host can take. */
  const chooseImageHost = async (
    { endpoint: { path, effect } }: Route,
    context: RequestContext,
    body: unknown,
  ): Promise<StoredHost | undefined> => {
    const { upload }: { upload?: boolean } = Object(body)
    if (upload || path.endsWith('/upload')) return imageHosts.findOnly()
    const { id }: { id?: string } = Object(context.params)
    if (id === undefined) return undefined
    return imageHosts.findOne(id, context.requireCaller(), effect === 'read' ? context.signal : undefined)
  }
  /** The hosts that can take what a request makes: a machine goes to a host that has its images. */
  const selectCandidates = async (
    { id }: Route,
    context: RequestContext,
    body: unknown,
  ): Promise<Pick<HostTable, 'list' | 'isAnswering'>> => {
    const machineToMake: Readonly<Record<string, unknown>> = {
      'machines/create': body,
      'pools/create': readPoolNeeds(body).images,
    }
    const images = listImagesOfBody(machineToMake[id])
    if (images.length === 0) return table
    const having = new Set((await imageHosts.findAll(images, context.requireCaller())).map(host => host.id))
    return { list: () => table.list().filter(host => having.has(host.id)), isAnswering: table.isAnswering }
  }

  return async (route, context, { choice, body }) => {
    if (choice.host !== undefined) return table.find(choice.host)
    const { endpoint } = route
    const { params, signal } = context
    const { name: pool }: { name?: string } = Object(params)
    if (endpoint.path.startsWith('/v1/pools/') && pool !== undefined)
      return findPoolHost(pool, context.requireCaller(), { isClaim: route.id === 'pools/claim', signal })
    const imageHost = endpoint.path.startsWith('/v1/images') ? await chooseImageHost(route, context, body) : undefined
    if (imageHost) return imageHost
    const { id }: { id?: string } = Object(params)
    const { uuid, architecture }: PlacedBody = Object(body)
    const machine =
      (endpoint.path.startsWith('/v1/machines/') ? id : uuid) ??
      (route.id === 'pools/create' ? readPoolNeeds(body).machine : undefined)
    if (machine !== undefined)
      return findMachineHost(machine, context.requireCaller(), endpoint.effect === 'read' ? signal : undefined)
    const candidates = await selectCandidates(route, context, body)
    const [best] = rankHosts(candidates, { labels: choice.host_labels, architecture })
    return best
  }
}

import type { Principal } from '#lib/access/principal.ts'
import { getSignal, type ProgressReporter } from '#lib/async/progress.ts'
import { emptyContents } from '#lib/catalog/contents.ts'
import { countDownload } from '#lib/catalog/download-count.ts'
import type { Architecture } from '#lib/catalog/identifiers.ts'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { ServiceError } from '#lib/errors.ts'
import type { RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'
import { assertSignedByControl } from '../orders/assert-signed-by-control.ts'
import type { SourceOrder } from '../orders/schemas.ts'
import { parsePullConnection } from '../pull-connection.ts'
import { type PullManifest, PullResult } from '../schemas.ts'
import { planPull, type PullStep } from '../steps.ts'
import type { HostChoice, HostedContext, TransferHost, TransferHosts } from './context.ts'
import { findForHost } from './find-for-host.ts'
import { grantForOrder } from './grant-for-order.ts'
import { findOrderedPack, type OrderedPack } from './ordered-pack.ts'
import { splitRequest } from './split-request.ts'

/** The most characters of the lists of files that a host gets with an order. It needs them only to show them. */
const maxContents = 32_000

/** Removes what changes without a new pack, so that a repeated request is the same, and lists that are long. */
const toOrderedManifest = ({ manifest }: OrderedPack): CatalogManifest => {
  const { last_downloaded_at: _, pack_contents, virtual_machine_contents, ...fields } = manifest
  const contents = { pack_contents, virtual_machine_contents }
  return {
    ...fields,
    ...(JSON.stringify(contents).length > maxContents ? emptyContents : contents),
    download_count: 0,
    last_downloaded_user: '',
  }
}

const readResult = (host: TransferHost, reply: unknown): PullResult => {
  const isResult = (value: unknown): value is PullResult => PullResult.safeParse(value).success
  if (isResult(reply)) return reply
  throw new ServiceError('upstream', `The host ${host.name} does not say what it has pulled.`)
}

/** Returns the host that a request names, or else the best one. */
const chooseHost = (
  hosts: TransferHosts,
  { host, host_labels: labels }: HostChoice,
  architecture: Architecture | undefined,
): TransferHost => {
  if (host !== undefined) return hosts.find(host)
  const [best] = hosts.rankHosts({ labels, ...(architecture && { architecture }) })
  return best
}

/**
 * Pulls a machine to a host from the catalog of this service, or with `manager` from that of another one. This service finds the
 * pack and the host, and tells the host where the pack is; the host fetches and verifies it. The credentials of a manager stay here.
 * If the connection itself names another catalog, the host does all. Throws as `pullManifest`, and `unavailable` when no host can
 * run the machine.
 */
export const pullThroughHost = async (
  context: HostedContext,
  caller: Principal,
  request: PullManifest & HostChoice,
  progress: ProgressReporter<PullStep>,
  manager?: RemoteCatalogSession,
): Promise<PullResult> => {
  if (request.source) assertSignedByControl(caller, 'source')
  progress.plan(planPull(request.start_after_pull === true))
  progress.begin('pull_validate_stage')
  const { hosts, catalog } = context
  const signal = getSignal(progress)
  const { choice, body } = splitRequest<PullManifest>(request)
  const { service, storage } = parsePullConnection(request, manager !== undefined)
  const pullRoute = { method: 'PUT', path: '/v1/catalog/pull' }
  if (service) {
    const host = hosts.findOfJob(progress.id) ?? chooseHost(hosts, choice, body.architecture)
    return readResult(host, await hosts.run(host, caller, { ...pullRoute, body }, progress))
  }
  const { id: jobId } = progress
  const { pack, host } = await findForHost(
    hosts,
    { ...choice, architecture: body.architecture },
    {
      job: jobId,
      caller,
      signal,
      find: architecture =>
        findOrderedPack(context, caller, { ...body, architecture }, { storage, manager, job: jobId, signal }),
    },
  )
  const { connection: _, provider_metadata: __, ...ownBody } = body
  const { catalogId, manifest } = pack
  const { order, served } = await pack.locate()
  const job = jobId ?? crypto.randomUUID()
  const source: SourceOrder = { ...order, manifest: toOrderedManifest(pack), ...(served && { job }) }
  if (catalogId !== undefined) await countDownload(catalog, caller, catalogId, job)
  using _offer = served && context.servedPacks.offer(job, host.id, served)
  const { architecture, version } = manifest
  const call = { ...pullRoute, body: { ...ownBody, version, architecture, source } }
  const reply = await hosts.run(host, grantForOrder(caller, 'PULL_CATALOG_MANIFEST'), call, progress)
  return { ...readResult(host, reply), manifest }
}

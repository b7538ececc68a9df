import * as z from 'zod'
import type { Fault } from '#lib/errors.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { Services } from '#lib/http/services.ts'
import { findBodyForHost, type HostChoice, needsPlacement } from './forwarded-request.ts'
import type { Forwarding } from './forwarding.ts'
import { LicenseRecord } from '#lib/license/license.ts'

/** The services that only a host has. Endpoints that use one of them are forwarded to a host. */
export const hostServiceNames = [
  'machines',
  'snapshotSchedules',
  'pools',
  'tunnels',
  'images',
  'catalogCache',
  'ssh',
  'license',
] as const

/** Whether a route needs a host. */
export const needsHost = ({ endpoint: { uses } }: Route): boolean =>
  uses.some(name => hostServiceNames.some(own => own === name))

const hostQuery = {
  host: z.string().min(1).max(128).optional().meta({ description: 'Id or name of the host that gets the request' }),
}
const placementQuery = {
  ...hostQuery,
  host_labels: z
    .string()
    .max(1024)
    .optional()
    .meta({ description: 'Labels that the host must have, as NAME=VALUE,NAME=VALUE' }),
}

/** Adds members to the schema of a query or of a body. */
const addMembers = (schema: z.ZodType | undefined, members: z.ZodRawShape): z.ZodType => {
  const object = schema ?? z.object({})
  if (!(object instanceof z.ZodObject)) throw new Error('only named members can name a host')
  return object.safeExtend(members)
}

/** Faults of the way to a host, which every forwarded request can have. */
const forwardFaults: readonly Fault[] = ['not-found', 'conflict', 'upstream', 'timeout', 'no-space']

const HostProblem = z.object({ host: z.string(), problem: z.string() })
const HostLicense = LicenseRecord.extend({ host: z.string() })
const hostMember = { host: z.string().meta({ description: 'Name of the host' }) }

/** The methods that answer requests which concern all hosts, or whose reply names the host, by the id of their route. */
const ownMethods: Readonly<Record<string, keyof Forwarding>> = {
  'machines/list': 'listMachines',
  'machines/show': 'showMachine',
  'images/list': 'listImages',
  'images/show': 'showImage',
  'pools/list': 'listPools',
  'license/show': 'readLicenses',
  'catalog-cache/list': 'listCaches',
  'catalog-cache/clear': 'removeFromCaches',
  'catalog-cache/delete': 'removeFromCaches',
}

/** The schema of the reply: lists that join the replies of several hosts name the host of each item. */
const toReplySchema = ({ id, endpoint: { reply } }: Route): z.ZodType => {
  if (id === 'license/show') return z.union([LicenseRecord, z.array(z.union([HostLicense, HostProblem]))])
  if (id === 'images/show' && reply instanceof z.ZodObject) return reply.extend(hostMember)
  if (
    ['catalog-cache/list', 'images/list', 'pools/list'].includes(id) &&
    reply instanceof z.ZodArray &&
    reply.element instanceof z.ZodObject
  )
    return z.array(reply.element.extend(hostMember))
  return reply
}

/** Whether a route is a transfer that this service has a host run. */
const isHostedTransfer = ({ endpoint: { uses, job } }: Route): boolean =>
  uses.includes('transfers') && (job?.operation === 'push' || job?.operation === 'pull')

/** Makes of a transfer one whose callers can choose the host. The service of transfers gets the choice with the body. */
const placeTransfer = ({ id, endpoint }: Route): Route => ({
  id,
  endpoint: {
    ...endpoint,
    query: addMembers(endpoint.query, placementQuery),
    body: addMembers(endpoint.body, hostQuery),
    faults: [...(endpoint.faults ?? []), ...forwardFaults],
    handle(context, services) {
      const { host, host_labels }: HostChoice = Object(context.query)
      context.body = {
        ...Object(context.body),
        ...(host !== undefined && { host }),
        ...(host_labels !== undefined && { host_labels }),
      }
      return endpoint.handle(context, services)
    },
  },
})

/**
 * Makes of an endpoint that needs a host the endpoint of a service that has hosts. The contract stays, so that access, checks,
 * audit and jobs are the same here; only the handler is another one, and callers can choose the host. An endpoint that needs no host
 * stays as it is.
 */
export const forwardRoute = (route: Route): Route => {
  if (isHostedTransfer(route)) return placeTransfer(route)
  if (!needsHost(route)) return route
  const { id, endpoint } = route
  const isPlaced = needsPlacement(route)
  const openBody = findBodyForHost(route)
  const method = ownMethods[id] ?? 'forward'
  const uses: readonly (keyof Services)[] = ['forwarding']
  return {
    id,
    endpoint: {
      ...endpoint,
      uses,
      query: addMembers(endpoint.query, isPlaced ? placementQuery : hostQuery),
      ...(openBody && { body: openBody.safeExtend(hostQuery) }),
      reply: toReplySchema(route),
      faults: [...(endpoint.faults ?? []), ...forwardFaults],
      handle: (context, { forwarding }) => forwarding[method](route, context),
    },
  }
}

import type { Fault } from '#lib/errors.ts'
import type { Endpoint } from './endpoint.ts'
import { toStatus } from '#lib/calls/statuses.ts'

/** The faults that every endpoint can answer with: a malformed request, a defect, a service that shuts down. */
const commonFaults: readonly Fault[] = ['invalid', 'internal', 'unavailable']

/** The faults of an endpoint: those that follow from the fields of its contract, and those that the contract names. */
export const faultsOf = ({
  access,
  effect,
  method,
  params,
  body,
  conditional,
  job,
  media,
  faults,
}: Endpoint): Fault[] => [
  ...commonFaults,
  ...(access === 'public' ? [] : (['unauthenticated'] as const)),
  // A GET that changes something is refused to prefetching and to pages of other sites.
  ...(typeof access === 'object' || (effect === 'change' && method === 'GET') ? (['forbidden'] as const) : []),
  ...(params ? (['not-found'] as const) : []),
  ...(body ? (['too-large'] as const) : []),
  ...(effect === 'change' && access !== 'public' ? (['conflict', 'no-space'] as const) : []),
  ...(conditional ? (['precondition-failed'] as const) : []),
  ...(job ? (['timeout'] as const) : []),
  ...(media === 'websocket' ? (['upgrade-required'] as const) : []),
  ...(faults ?? []),
]

/** The status of a success that is not a job; undefined for endpoints that always answer with a job. */
export const getSuccessStatus = ({ status = 200, media, job }: Endpoint): number | undefined => {
  if (job?.detached) return undefined
  return media === 'websocket' ? 101 : status
}

/** Every status that an endpoint can answer with, in order. */
export const listStatuses = (endpoint: Endpoint): readonly number[] => {
  const success = getSuccessStatus(endpoint)
  const all = [
    ...(success === undefined ? [] : [success]),
    ...(endpoint.textFor ? [200] : []),
    ...(endpoint.job ? [202] : []),
    ...(endpoint.hasETag && endpoint.method === 'GET' ? [304] : []),
    ...(endpoint.media === 'application/octet-stream' ? [206, 304, 416] : []),
    ...faultsOf(endpoint).map(toStatus),
  ]
  return [...new Set(all)].sort((a, b) => a - b)
}

import { findMissingRight, type Requirement } from '#lib/access/requirement.ts'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { RequestContext } from '#lib/http/context.ts'
import type { HostTable } from '../../host-table.ts'
import { isUnreachable, type StoredHost } from '../../stored-host.ts'
import { createHostDownError } from '../send-to-host.ts'

/** A stream between a caller and a host, which passes through this service. */
export interface WatchedStream extends Disposable {
  /** Aborted when the stream has to end. */
  readonly signal: AbortSignal
  /** Why the stream had to end; undefined while it may go on. */
  failure(): ServiceError | undefined
  /** Ends the stream on both sides. */
  fail(failure: ServiceError): void
  /**
   * Names the assertion under which the host has opened a WebSocket. Nobody here sees the WebSocket end, so it counts as open as long
   * as the host reports it.
   */
  setAssertion(id: string): void
}

/** The open streams. Each ends when its caller loses a right with which it was opened, and when its host is gone. */
export interface WatchedStreams {
  /** Throws `unavailable` at the limits. */
  open(context: RequestContext, host: StoredHost): WatchedStream
  /** Handles the report of a host: the assertions under which WebSockets are open there. */
  onConnections(hostId: string, assertions: readonly string[]): void
}

interface Stream {
  readonly host: Pick<StoredHost, 'id' | 'name'>
  readonly userId: string
  readonly check: () => Promise<void>
  readonly end: (failure?: ServiceError) => void
  assertion?: string
  /** Whether the last report of the host was without this stream. */
  isMissing: boolean
}

/** The most streams of one user, and in all, as hosts have them. */
const limits = { user: 100, all: 1_000 } as const
/** Milliseconds between two checks of the rights. */
const checkInterval = 1_000

const holds = ({ superUser, claims }: Principal, claim: string): boolean => superUser || claims.has(claim)

/**
 * The claims of a requirement that a principal holds. The host knows those alone, so a stream does not outlive any of them, also where
 * the others would be enough to open it.
 */
const listHeldClaims = (access: Requirement, principal: Principal): readonly string[] =>
  typeof access === 'string'
    ? []
    : [...(access.claims ?? []), ...(access.anyClaim ?? [])].filter(claim => holds(principal, claim))

const createLostRightError = (missing: string): ServiceError =>
  new ServiceError('forbidden', `This needs ${missing}, which you do not have any more.`)

export const createWatchedStreams = ({ table }: { readonly table: Pick<HostTable, 'get'> }): WatchedStreams => {
  const streams = new Set<Stream>()
  let timer: ReturnType<typeof setInterval> | undefined

  const remove = (stream: Stream): void => {
    streams.delete(stream)
    if (streams.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  const add = (stream: Stream): void => {
    streams.add(stream)
    // A timer keeps a Durable Object awake, so there is none without streams.
    timer ??= setInterval(() => streams.forEach(({ check }) => void check()), checkInterval)
  }
  const checkLimits = ({ id }: Principal): void => {
    const own = [...streams].filter(({ userId }) => userId === id).length
    if (own >= limits.user)
      throw new ServiceError('unavailable', `You have ${own} streams to hosts, which is all that one user can have.`)
    if (streams.size >= limits.all)
      throw new ServiceError(
        'unavailable',
        `There are ${streams.size} streams to hosts, which is all that there can be.`,
      )
  }
  const assertHostIsThere = ({ id, name }: Stream['host']): void => {
    const host = table.get(id)
    if (!host) throw new ServiceError('not-found', `The host ${name} was removed.`)
    if (isUnreachable(host)) throw createHostDownError(host)
  }

  return {
    open(context, host) {
      const caller = context.requireCaller()
      checkLimits(caller)
      const { access } = context.requireRoute().endpoint
      const { reauthenticate } = context
      const held = listHeldClaims(access, caller)
      const ended = new AbortController()
      let failure: ServiceError | undefined
      const assertMayGoOn = (principal: Principal): void => {
        const refusal = findMissingRight(access, principal)
        if (refusal) throw createLostRightError(refusal.missing)
        const lost = held.find(claim => !holds(principal, claim))
        if (lost !== undefined) throw createLostRightError(`the claim ${lost}`)
      }
      const stream: Stream = {
        host,
        userId: caller.id,
        isMissing: false,
        async check() {
          try {
            assertHostIsThere(host)
            assertMayGoOn(await reauthenticate())
          } catch (error) {
            if (!(error instanceof ServiceError)) throw error
            stream.end(error)
          }
        },
        end(reason) {
          failure ??= reason
          remove(stream)
          // The runtime would log a reason of another kind as an error that nobody has caught.
          ended.abort()
        },
      }
      add(stream)
      return {
        signal: ended.signal,
        failure: () => failure,
        fail: stream.end,
        setAssertion: id => void (stream.assertion = id),
        [Symbol.dispose]: () => remove(stream),
      }
    },
    onConnections(hostId, assertions) {
      const open = new Set(assertions)
      for (const stream of [...streams].filter(({ host }) => host.id === hostId)) {
        const { assertion } = stream
        if (assertion === undefined) continue
        const isMissing = !open.has(assertion)
        // The first report without it may have been on its way when the stream was opened.
        if (isMissing && stream.isMissing) stream.end()
        stream.isMissing = isMissing
      }
    },
  }
}

import type { WebSocket } from 'ws'
import type { Principal } from '#lib/access/principal.ts'
import type { Every } from '#lib/async/every.ts'
import type { Handshake } from '#lib/calls/upgrade.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { createHandshakes, SocketHandshake } from '#lib/platform/web-sockets.ts'
import type { OpenTunnel } from './relay.ts'

/** What a WebSocket is connected to: a port of a guest, its serial line, or its screen. */
export interface GuestConnection {
  /** Passes bytes between the WebSocket and the guest. */
  relay(socket: WebSocket): OpenTunnel
  /** Called when the WebSocket has closed, or was never opened. */
  destroy(): void
}

interface TunnelRights {
  /** Authenticates the caller again. Throws when the session has ended. */
  readonly reauthenticate: () => Promise<Principal>
  /** Throws when the caller may not enter this guest. */
  readonly authorize: (caller: Principal) => void
}

interface TunnelRequest extends TunnelRights {
  readonly caller: Principal
  /** Connects to the guest. */
  readonly connect: () => Promise<GuestConnection>
}

/** The WebSockets to guests: their binary messages are the bytes of a TCP connection, of a serial line or of a screen. */
export interface Tunnels extends Disposable {
  /**
   * Connects to the guest, and returns what accepts the WebSocket. Throws `unavailable` at the limits, and what `connect`
   * throws.
   */
  admit(request: TunnelRequest): Promise<(handshake: Handshake) => void>
  /** The ids of the assertions under which other services have opened tunnels. */
  listAssertions(): readonly string[]
}

interface Tunnel extends TunnelRights {
  readonly caller: Principal
  /** Undefined until its WebSocket is open. */
  open?: OpenTunnel
}

/** The most tunnels of one user, and in all. */
const limits = { user: 100, all: 1_000 } as const
/** Bytes of a message that a client may send. */
const longestMessage = 1 << 20
/** Milliseconds between two checks of the rights, and between two signs of life. */
const [checkInterval, pingInterval] = [1_000, 30_000]
/** Bytes of the reason with which a WebSocket can be closed (RFC 6455, 5.5). */
const longestReason = 123

/** Opens the tunnels. A tunnel ends with the rights of its caller. */
export const createTunnels = (every: Every): Tunnels => {
  const tunnels = new Set<Tunnel>()
  const completeHandshake = createHandshakes(longestMessage)
  let isClosing = false

  const checkRights = async ({ open, reauthenticate, authorize }: Tunnel): Promise<void> => {
    try {
      authorize(await reauthenticate())
    } catch (error) {
      open?.close(
        1008,
        Buffer.from(messageOf(error))
          .subarray(0, longestReason)
          .toString('utf8')
          .replace(/\uFFFD$/, ''),
      )
    }
  }
  const timers = [
    every(checkInterval, () => tunnels.forEach(tunnel => void checkRights(tunnel))),
    every(pingInterval, () => tunnels.forEach(({ open }) => open?.ping())),
  ]
  const reserve = ({ caller, reauthenticate, authorize }: TunnelRequest): Tunnel => {
    if (isClosing) throw new ServiceError('unavailable', 'The service is shutting down; try again when it is back.')
    const ownCount = [...tunnels].filter(tunnel => tunnel.caller.id === caller.id).length
    if (ownCount >= limits.user || tunnels.size >= limits.all)
      throw new ServiceError(
        'unavailable',
        ownCount >= limits.user
          ? `You have ${ownCount} tunnels, consoles and screens, which is all that one user can have.`
          : `There are ${tunnels.size} tunnels, consoles and screens, which is all that there can be.`,
      )
    const tunnel: Tunnel = { caller, reauthenticate, authorize }
    tunnels.add(tunnel)
    return tunnel
  }

  return {
    async admit(request) {
      const tunnel = reserve(request)
      let guest: GuestConnection
      try {
        guest = await request.connect()
      } catch (error) {
        tunnels.delete(tunnel)
        throw error
      }
      return handshake => {
        const end = (): void => {
          tunnels.delete(tunnel)
          guest.destroy()
        }
        if (handshake.isGone() || isClosing) return end()
        handshake.onClosed(end)
        completeHandshake(SocketHandshake.of(handshake), socket => (tunnel.open = guest.relay(socket)))
      }
    },
    listAssertions: () => [...tunnels].flatMap(({ caller }) => caller.assertion ?? []),
    [Symbol.dispose]() {
      isClosing = true
      for (const timer of timers) timer[Symbol.dispose]()
      for (const { open } of tunnels) open?.close(1001, 'The service is shutting down.')
    },
  }
}

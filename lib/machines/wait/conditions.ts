import { compilePattern, type LinearPattern } from '#lib/calls/linear-pattern.ts'
import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import { conditionForms } from './forms.ts'

/** What a caller waits for. `needsGuest` conditions cannot hold while the machine is stopped. */
export type Condition = { readonly needsGuest: boolean } & (
  | { readonly kind: 'view'; readonly holds: (view: MachineView) => boolean }
  /** The guest's output to its serial line matches. */
  | { readonly kind: 'serial'; readonly pattern: LinearPattern }
  /** A TCP port of the guest accepts a connection. */
  | { readonly kind: 'port'; readonly port: number }
  /** An event about the machine with this message. */
  | { readonly kind: 'event'; readonly message: string }
)

const viewConditions: Readonly<Record<string, Condition>> = {
  running: { kind: 'view', needsGuest: false, holds: ({ state }) => state === 'running' },
  stopped: { kind: 'view', needsGuest: false, holds: ({ state }) => state === 'stopped' },
  ip: { kind: 'view', needsGuest: true, holds: ({ addresses }) => addresses.length > 0 },
  agent: { kind: 'view', needsGuest: true, holds: ({ guest }) => guest !== undefined },
}

/** The event of which only those learn who may list the snapshots of the machine. */
export const snapshotsEvent = 'VM_SNAPSHOTS_UPDATED'
/** The events of machines (see `createPublisher`). */
const eventMessages: ReadonlySet<string> = new Set([
  ...['VM_ADDED', 'VM_REMOVED', 'VM_STATE_CHANGED', 'VM_UPDATED'],
  snapshotsEvent,
])

/** Characters of a pattern, and instructions of its program, which bound the time per byte of output. */
const [maxPattern, maxSize] = [512, 200]

interface Options {
  /** The parameter that has the condition, for messages. */
  readonly parameter: string
  readonly driver: Pick<HypervisorDriver, 'kind' | 'openAgent' | 'openTunnel'>
}

/** Parses a condition (see `conditionForms`). Throws `invalid`, and `unsupported` for what the driver never reports. */
export const parseCondition = async (text: string, { parameter, driver }: Options): Promise<Condition> => {
  const createError = (why: string): ServiceError =>
    new ServiceError('invalid', `${parameter}: ${why}. Write ${conditionForms}.`)
  const requirePart = (part: 'openAgent' | 'openTunnel', what: string): void => {
    if (!driver[part]) throw new ServiceError('unsupported', `${what} are unsupported by the ${driver.kind} driver.`)
  }
  if (text === 'agent') requirePart('openAgent', 'Guest agents')
  if (Object.hasOwn(viewConditions, text)) return viewConditions[text]!
  const colon = text.indexOf(':')
  const [kind, value] = [text.slice(0, colon), text.slice(colon + 1)]
  if (colon > 0 && value !== '') {
    if (kind === 'serial') {
      if (value.length > maxPattern) throw createError(`its pattern has more than ${maxPattern} characters`)
      const pattern = await compilePattern(value, { createError })
      if (pattern.size > maxSize) throw createError('its pattern repeats too much')
      return { kind, pattern, needsGuest: true }
    }
    if (kind === 'port') {
      const port = /^\d{1,5}$/.test(value) ? Number(value) : 0
      if (port < 1 || port > 65_535) throw createError(`${JSON.stringify(value.slice(0, 80))} is no port`)
      requirePart('openTunnel', 'Connections to ports of guests')
      return { kind, port, needsGuest: true }
    }
    if (kind === 'event') {
      if (!eventMessages.has(value))
        throw createError(
          `${JSON.stringify(value.slice(0, 80))} is no event of a machine (${[...eventMessages].join(', ')})`,
        )
      return { kind, message: value, needsGuest: false }
    }
  }
  throw createError(`${JSON.stringify(text.slice(0, 80))} is no condition`)
}

import type { Principal } from '#lib/auth/principal.ts'
import type { Work } from '#lib/work.ts'
import type { Route } from './endpoint.ts'
import { statusOf, toServiceError } from './errors.ts'
import type { Action } from './observation.ts'

/** Who asked for what. */
interface Asked {
  readonly method: string
  readonly caller: Pick<Principal, 'id' | 'username' | 'apiKeyId'> | undefined
  readonly address: string
  readonly params: unknown
  readonly body: unknown
}

/** How it ended. */
interface Ended {
  readonly requestId: string
  readonly status: number
  readonly value: unknown
  readonly error: unknown
}

/** Keeps what was done and refused. */
export type Audit = (what: Action) => Promise<void>

const picked = (value: unknown, names: readonly string[] = []): Record<string, unknown> | undefined => {
  const found = Object.entries(value ?? {}).filter(([name, member]) => names.includes(name) && member !== undefined)
  return found.length > 0 ? Object.fromEntries(found) : undefined
}

const createdBy = (value: unknown): string | undefined => {
  const { id } = (value ?? {}) as { id?: unknown }
  return typeof id === 'string' ? id : undefined
}

/** What the audit is told of a call: of its content only what the contract lets be told. */
export const actionOf = ({ id, endpoint }: Route, asked: Asked, ended: Ended): Action => ({
  requestId: ended.requestId,
  method: asked.method,
  operation: id,
  caller: asked.caller,
  address: asked.address,
  target: picked(asked.params, Object.keys(asked.params ?? {})) as Record<string, string> | undefined,
  details: picked(asked.body, endpoint.audited),
  created: ended.status === 201 ? createdBy(ended.value) : undefined,
  status: ended.status,
  error: ended.error,
})

/** The work of a job, of which the audit is told when it has ended: the reply could only say that it had begun. */
export const auditedWork =
  (audit: Audit | undefined, route: Route, asked: Asked, perform: (work: Work) => unknown) =>
  async (work: Work): Promise<unknown> => {
    const requestId = work.id ?? ''
    const tell = async (end: Omit<Ended, 'requestId'>): Promise<void> =>
      audit?.(actionOf(route, asked, { requestId, ...end }))
    let value: unknown
    try {
      value = await perform(work)
    } catch (thrown) {
      const error = toServiceError(thrown, requestId)
      await tell({ status: statusOf(error.fault), value: undefined, error })
      throw thrown
    }
    await tell({ status: route.endpoint.status ?? 200, value, error: undefined })
    return value
  }

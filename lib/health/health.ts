import * as z from 'zod'
import { messageOf } from '#lib/errors.ts'
import { abortable } from '#lib/async/abortable.ts'

const Part = z.object({ name: z.string(), healthy: z.boolean(), message: z.string() })

export const SystemHealth = z
  .object({
    healthy: z.boolean(),
    message: z.string(),
    error_message: z.string().optional(),
    services: z.array(Part),
  })
  .meta({ id: 'SystemHealth' })
export type SystemHealth = z.infer<typeof SystemHealth>

export interface Health {
  /** The health of the parts of the service, at most a second old. Settles within the time limit of a check. */
  system(): Promise<SystemHealth>
}

/** Checks a part of the service. Gives a message about it, or throws what is wrong with it. */
export type Check = () => Promise<string>

/** Milliseconds that a check may take. */
const checkTimeout = 2_000
/** Milliseconds for which a result is given to all callers. */
const cacheTime = 1_000

/** Limits the time of a check. A check that hangs is not started again, because each one would block another thread. */
const limitTime = (check: Check): Check => {
  let pending: Promise<string> | undefined
  return async () => {
    pending ??= check().finally(() => (pending = undefined))
    const timeout = AbortSignal.timeout(checkTimeout)
    return abortable(pending, timeout).catch((error: unknown) => {
      throw timeout.aborted ? new Error(`it has not answered within ${checkTimeout / 1000} seconds`) : error
    })
  }
}

/** Runs the checks at most once a second, however many callers ask. */
export const createHealth = (checks: Readonly<Record<string, Check>>): Health => {
  const parts = Object.entries(checks).map(([name, check]) => ({ name, check: limitTime(check) }))
  const checkAll = async (): Promise<SystemHealth> => {
    const services = await Promise.all(
      parts.map(({ name, check }) =>
        check().then(
          message => ({ name, healthy: true, message }),
          (error: unknown) => ({ name, healthy: false, message: messageOf(error) }),
        ),
      ),
    )
    const unhealthy = services.filter(part => !part.healthy).map(part => part.name)
    return unhealthy.length === 0
      ? { healthy: true, message: 'All services are running', services }
      : { healthy: false, message: 'Degraded', error_message: `Not healthy: ${unhealthy.join(', ')}`, services }
  }
  let last: { readonly at: number; readonly result: Promise<SystemHealth> } | undefined
  return {
    system() {
      if (!last || performance.now() - last.at > cacheTime) last = { at: performance.now(), result: checkAll() }
      return last.result
    },
  }
}

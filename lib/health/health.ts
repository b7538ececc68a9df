import * as z from 'zod'

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
  system(): Promise<SystemHealth>
}

/** Looks at a part of the service: gives what to say of it, throws what is wrong with it. */
export type Check = () => Promise<string>

/** The health of all parts, looked at anew on each call. */
export const createHealth = (checks: Readonly<Record<string, Check>>): Health => ({
  async system() {
    const services = await Promise.all(
      Object.entries(checks).map(([name, check]) =>
        check().then(
          message => ({ name, healthy: true, message }),
          (error: unknown) => ({ name, healthy: false, message: error instanceof Error ? error.message : 'failed' }),
        ),
      ),
    )
    const ill = services.filter(part => !part.healthy).map(part => part.name)
    return ill.length === 0
      ? { healthy: true, message: 'All services are running', services }
      : { healthy: false, message: 'Degraded', error_message: `Not healthy: ${ill.join(', ')}`, services }
  },
})

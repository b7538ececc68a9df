import * as z from 'zod'

/** The license record of section 2.8 of the specification. All twelve fields are always present. `max_memory` is in MB. */
export const LicenseRecord = z
  .object({
    advanced_restrictions: z.string(),
    cpu_total: z.int(),
    deferred_activation: z.string(),
    edition: z.string(),
    expiration: z.string(),
    grace_period_ends_at: z.string(),
    is_volume: z.string(),
    main_period_ends_at: z.string(),
    max_memory: z.int(),
    serial: z.string(),
    status: z.string(),
    uuid: z.string(),
  })
  .meta({ id: 'License' })
export type LicenseRecord = z.infer<typeof LicenseRecord>

export interface License {
  read(): Promise<LicenseRecord>
}

/** The editions of the hypervisors. They are free software: no key, no expiry, no limit but the host's own. */
const editionNames: Readonly<Record<string, string>> = { qemu: 'QEMU (GPL-2.0-only)', embedded: 'v86 (BSD-2-Clause)' }

/** Creates the license of a hypervisor that needs no key. `memory` is the memory of the host in MB. */
export const createFreeLicense = (kind: string, host: { id: string; cpus: number; memory: number }): License => ({
  read: async () => ({
    advanced_restrictions: 'disabled',
    cpu_total: host.cpus,
    deferred_activation: 'disabled',
    edition: editionNames[kind] ?? kind,
    expiration: '',
    grace_period_ends_at: '',
    is_volume: 'no',
    main_period_ends_at: '',
    max_memory: host.memory,
    serial: '',
    status: 'ACTIVE',
    uuid: host.id,
  }),
})

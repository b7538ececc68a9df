import * as z from 'zod'
import { isAddressRule } from '#lib/platform/client-address.ts'
import { createNumberSchema, listSchema } from './setting-types.ts'

// These settings are about no host, so programs without one have them too.

/** How long the audit and the event log go back. */
export const retentionSettings = {
  audit_days: {
    schema: createNumberSchema(1, 36_500, 'days'),
    default: 400,
    help: 'days that the audit goes back',
  },
  audit_kept: {
    schema: createNumberSchema(1_000, 100_000_000),
    default: 1_000_000,
    help: 'maximum number of audit entries',
  },
  events_days: {
    schema: createNumberSchema(1, 3_650, 'days'),
    default: 7,
    help: 'days that the event log goes back',
  },
  events_kept: {
    schema: createNumberSchema(100, 100_000_000),
    default: 100_000,
    help: 'maximum number of events in the log',
  },
} as const

/** How many clients may read events. */
export const subscriptionSettings = {
  subscriptions_per_user: {
    schema: createNumberSchema(1, 1_000_000),
    default: 100,
    help: 'maximum number of event WebSockets of one user',
  },
  subscriptions: {
    schema: createNumberSchema(1, 1_000_000),
    default: 10_000,
    help: 'maximum number of event WebSockets of all users',
  },
} as const

/** What the catalog and catalog managers may do. */
export const catalogSettings = {
  outgoing_addresses: {
    schema: listSchema.pipe(
      z.array(z.string().refine(isAddressRule, 'must be addresses or ranges such as 10.0.0.0/8')),
    ),
    default: [],
    help: 'private addresses and ranges that catalog managers and pulls of images may reach; they may always reach public ones; list a cloud metadata address on its own, because no range includes it',
  },
  manifests_per_user: {
    schema: createNumberSchema(1, 1_000_000),
    default: 10_000,
    help: 'maximum number of manifests of one user in the catalog',
  },
} as const

/** What is served, and what is logged of it. */
export const servingSettings = {
  log: {
    schema: z.enum(['debug', 'info', 'warning', 'error']),
    default: 'info',
    help: 'debug, info, warning or error; JSON lines on standard error',
  },
  routes_include: {
    schema: listSchema,
    default: [],
    help: 'serve only these routes: ids, METHOD /path, or effect:read, with * and **',
  },
  routes_exclude: {
    schema: listSchema,
    default: [],
    help: 'do not serve these routes; takes precedence over routes_include',
  },
  license_path: {
    schema: z.string().regex(/^[a-z0-9_-]+$/, 'must be one path segment of a-z, 0-9, _ and -'),
    default: 'hypervisor_desktop',
    help: 'name of the product in /api/v1/PRODUCT/key, for clients that ask for the license of another product',
  },
} as const

import * as z from 'zod'
import type { Seed } from '#lib/hypervisor/seed/seed.ts'
import { hostNamePattern } from '#lib/hypervisor/seed/host-name.ts'
import { isPublicKey } from './public-key.ts'

/** Upper limits in bytes. */
const limits = { userData: 64 * 1024, networkConfig: 16 * 1024, key: 16 * 1024 }

const createTextSchema = (limit: number, what: string) =>
  z
    .string()
    .min(1)
    .refine(text => !text.includes('\0'), 'must not contain NUL')
    .refine(text => new TextEncoder().encode(text).length <= limit, `must have at most ${limit / 1024} KiB`)
    .optional()
    .meta({ description: what })

/** The members of a request that a guest with cloud-init reads at its first boot. */
export const cloudInitShape = {
  user_data: createTextSchema(
    limits.userData,
    'A #cloud-config, script or other text for cloud-init. Never shown again',
  ),
  ssh_keys: z
    .array(
      z
        .string()
        .max(limits.key)
        .trim()
        .refine(isPublicKey, 'must be one public key as in a file .pub: its type, its bytes in Base64, a comment'),
    )
    .min(1)
    .max(64)
    .optional()
    .meta({ description: 'Public keys that may sign in as the default user of the guest' }),
  hostname: z
    .string()
    .regex(hostNamePattern, 'must be a host name of letters, digits, hyphens and dots (RFC 1123)')
    .optional()
    .meta({ description: 'The host name of the guest; default: the name of the machine, if it can be one' }),
  network_config: createTextSchema(limits.networkConfig, 'The network configuration of cloud-init, as YAML'),
}

type CloudInit = { readonly [Member in keyof typeof cloudInitShape]?: Seed[Member] }

/** Splits a request into the seed, undefined if it has none of its members, and the rest. */
export const splitSeed = <R extends CloudInit>(
  request: R,
): { readonly seed: Seed | undefined; readonly machine: Omit<R, keyof CloudInit> } => {
  const { user_data, ssh_keys, hostname, network_config, ...machine } = request
  const seed = { user_data, ssh_keys, hostname, network_config }
  return { seed: Object.values(seed).some(value => value !== undefined) ? seed : undefined, machine }
}

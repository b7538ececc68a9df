import { hostNamePattern } from './host-name.ts'
import { buildIso } from './iso9660.ts'

/** What a guest with cloud-init is told at its first boot. */
export interface Seed {
  /** The text for cloud-init: a `#cloud-config`, a script, or any other kind that it knows. */
  readonly user_data?: string | undefined
  /** Public keys that may sign in as the default user of the guest. */
  readonly ssh_keys?: readonly string[] | undefined
  readonly hostname?: string | undefined
  /** The network configuration of cloud-init, as YAML. */
  readonly network_config?: string | undefined
}

/**
 * Builds the CD-ROM from which cloud-init reads the seed of a machine (its data source NoCloud: a volume `cidata`). The id of the
 * machine is the id of the instance, so that cloud-init configures a clone anew. The meta-data is YAML, of which JSON is a part.
 * Without a host name, the name of the machine is taken if it can be one.
 */
export const buildSeedImage = (seed: Seed, { id, name }: { readonly id: string; readonly name: string }): Buffer => {
  const hostname = seed.hostname ?? (hostNamePattern.test(name) ? name : undefined)
  const metaData = {
    'instance-id': id,
    ...(hostname !== undefined && { 'local-hostname': hostname }),
    ...(seed.ssh_keys && { 'public-keys': seed.ssh_keys }),
  }
  const files = {
    'meta-data': `${JSON.stringify(metaData, undefined, 2)}\n`,
    // Without this file cloud-init does not accept the volume.
    'user-data': seed.user_data ?? '#cloud-config\n{}\n',
    ...(seed.network_config !== undefined && { 'network-config': seed.network_config }),
  }
  return buildIso(
    'cidata',
    Object.entries(files).map(([file, text]) => ({ name: file, data: Buffer.from(text) })),
  )
}

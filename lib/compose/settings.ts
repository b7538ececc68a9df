import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import * as z from 'zod'
import { isHostRule } from '#lib/ssh/allowed-hosts.ts'
import { mostSnapshots } from '#lib/machines/snapshots/quota.ts'
import { accessSettings } from './access-settings.ts'
import { catalogSettings, retentionSettings, servingSettings, subscriptionSettings } from './service-settings.ts'
import { controlSettings } from './hosts/control-settings.ts'
import { AbsolutePath, createNumberSchema, listSchema } from './setting-types.ts'

/** Every setting: its key in vmhost.toml; `VMHOST_KEY` in the environment; `--key` on the command line. */
export const settings = {
  state: {
    schema: AbsolutePath,
    default: join(process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'vmhost'),
    help: 'state folder: everything that the service stores',
  },
  ...accessSettings,
  ...controlSettings,
  storage_password: {
    schema: z.string().min(12, 'must have at least 12 characters').optional(),
    default: undefined,
    help: 'password that encrypts the store; if unset, the store is not encrypted',
  },
  backup_hours: {
    schema: createNumberSchema(0, 8_760, 'hours'),
    default: 24,
    help: 'hours between backups of the store; 0: no backups',
  },
  backup_keep: {
    schema: createNumberSchema(1, 1_000),
    default: 7,
    help: 'number of backups to keep',
  },
  backup_folder: {
    schema: AbsolutePath.optional(),
    default: undefined,
    help: 'folder of the backups; if unset, backups in the state folder',
  },
  ...retentionSettings,
  events: {
    schema: z.enum(['inline', 'process']),
    default: 'inline',
    help: 'what serves WebSockets: inline (the service) or process (a separate process)',
  },
  ...subscriptionSettings,
  ssh_host_keys: {
    schema: z.enum(['accept-new', 'strict']),
    default: 'accept-new',
    help: 'accept-new learns the key of an unknown SSH host; strict refuses the host; STATE/ssh/known_hosts has the known keys',
  },
  ssh_allowed_hosts: {
    schema: listSchema.pipe(
      z.array(z.string().refine(isHostRule, 'must be names with *, addresses, or ranges such as 10.0.0.0/8')),
    ),
    default: [],
    help: 'hosts that SSH execute may reach: names with *, addresses, ranges such as 10.0.0.0/8; any if empty',
  },
  ssh_connect_timeout: {
    schema: createNumberSchema(1, 600, 'seconds'),
    default: 30,
    help: 'seconds that SSH execute has to connect and sign in',
  },
  ssh_run_timeout: {
    schema: createNumberSchema(1, 86_400, 'seconds'),
    default: 300,
    help: 'maximum seconds of a command over SSH',
  },
  ssh_output_limit: {
    schema: createNumberSchema(1, 67_108_864, 'bytes'),
    default: 1_048_576,
    help: 'bytes of output that the service keeps of a command over SSH',
  },
  ...catalogSettings,
  cache_folder: {
    schema: AbsolutePath.optional(),
    default: undefined,
    help: 'folder of the cache of pulled machines; if unset, cache in the state folder',
  },
  cache_size: {
    schema: createNumberSchema(0, 1_000_000_000, 'MB'),
    default: 102_400,
    help: 'maximum size of the cache in MB; 0: no cache',
  },
  cache_keep_free: {
    schema: createNumberSchema(0, 1_000_000_000, 'MB'),
    default: 5_000,
    help: 'MB of the disk that the cache leaves free',
  },
  image_max_size: {
    schema: createNumberSchema(1, 67_108_864, 'MB'),
    default: 102_400,
    help: 'maximum size of an image that is pulled or uploaded, and of the disk in it, in MB',
  },
  snapshot_max_count: {
    schema: createNumberSchema(0, mostSnapshots),
    default: mostSnapshots,
    help: 'maximum number of snapshots of one machine; 0: no snapshots',
  },
  snapshot_max_size: {
    schema: createNumberSchema(0, 1_000_000_000, 'MB'),
    default: 0,
    help: 'maximum size of all snapshots of one machine together, in MB; 0: no limit',
  },
  pack_trust: {
    schema: z.enum(['off', 'warn', 'require']),
    default: 'off',
    help: 'whether pulled packs must have a signature: off, warn or require',
  },
  pack_trusted_keys: {
    schema: listSchema.pipe(
      z.array(z.string().regex(/^[A-Za-z0-9+/]{43}=$/, 'must be Ed25519 public keys: 32 bytes in base64')),
    ),
    default: [],
    help: 'Ed25519 public keys whose signatures the service trusts: base64 of their 32 bytes',
  },
  pack_signing_key: {
    schema: AbsolutePath.optional(),
    default: undefined,
    help: 'file of an Ed25519 private key (PEM) that signs pushed packs; if unset, packs are not signed',
  },
  driver: {
    schema: z.enum(['auto', 'qemu', 'embedded']),
    default: 'auto',
    help: 'auto, qemu or embedded; auto: qemu if it is installed',
  },
  serial_log_size: {
    schema: createNumberSchema(1, 1_048_576, 'MB'),
    default: 16,
    help: 'serial output that is kept of a machine, in MB; at most twice as many are on the disk',
  },
  qemu_user: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/, 'must be the name of a user of this host')
      .optional(),
    default: undefined,
    help: 'user that QEMU runs as; the service must be root for that; if unset, the user of the service',
  },
  guest_host_access: {
    schema: z.enum(['deny', 'allow']),
    default: 'deny',
    help: 'allow: machines with the network nat reach the loopback of the host as 10.0.3.2; deny: no machine does',
  },
  forward_addresses: {
    schema: listSchema.pipe(z.array(z.ipv4('must be IPv4 addresses of this host, or 0.0.0.0'))),
    default: [],
    help: 'addresses of this host that forwards may be opened on, beside its loopback; 0.0.0.0: all at once',
  },
  demo: { schema: z.enum(['on', 'off']), default: 'on', help: 'whether the first start makes a demo machine' },
  ...servingSettings,
  stop_timeout: {
    schema: createNumberSchema(1, 86_400, 'seconds'),
    default: 180,
    help: 'seconds that a guest has to shut down',
  },
  allowed_folders: {
    schema: listSchema.pipe(
      z.array(z.string().refine(path => path === '*' || isAbsolute(path), 'must be absolute paths, or * for any')),
    ),
    default: [],
    help: 'folders of disk images and kernels for machines, of bundles to push, and of local storage; *: any; if empty, attach and catalog in the state folder',
  },
} as const

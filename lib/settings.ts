import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import * as z from 'zod'
import { algorithms } from './auth/algorithms.ts'
import { characterKindNames, longestPassword } from './auth/password-policy.ts'
import { isAddressRule } from './platform/client-address.ts'
import { isHostRule } from './ssh/allowed-hosts.ts'

const list = z.preprocess(
  value =>
    typeof value === 'string'
      ? value
          .split(',')
          .map(part => part.trim())
          .filter(Boolean)
      : value,
  z.array(z.string()),
)

const Listen = z
  .string()
  .refine(text => URL.canParse(text), 'must be an address like https://127.0.0.1:8443')
  .transform(text => new URL(text))
  .refine(({ protocol }) => /^https?:$/.test(protocol), 'must begin with https:// or http://')
  .refine(({ pathname, search }) => pathname === '/' && search === '', 'must have no path')

const absolute = z
  .string()
  .min(1)
  .transform(path => resolve(path))

/** Every setting: its key in vmhost.toml; `VMHOST_KEY` in the environment; `--key` on the command line. */
export const settings = {
  state: {
    schema: absolute,
    default: join(process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'vmhost'),
    help: 'folder of everything that the service keeps',
  },
  listen: { schema: Listen, default: 'https://127.0.0.1:8443', help: 'address to serve on; http:// on loopback only' },
  root_password: {
    schema: z.string().optional(),
    default: undefined,
    help: 'password of the user root, set at every start; without it the first start makes one and shows it',
  },
  plain_http: {
    schema: z.enum(['loopback', 'anywhere']),
    default: 'loopback',
    help: 'where http:// may be served: loopback, or anywhere (everybody on the way can read it then)',
  },
  tls_certificate: {
    schema: absolute.optional(),
    default: undefined,
    help: 'certificate file (PEM, with its chain); tls/cert.pem in the state folder when left out',
  },
  tls_key: { schema: absolute.optional(), default: undefined, help: 'private key of tls_certificate (PEM)' },
  cors_origins: {
    schema: list.pipe(
      z.array(
        z
          .string()
          .refine(
            origin => origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin),
            'must be origins such as https://ui.example.org, or *',
          ),
      ),
    ),
    default: [],
    help: 'origins of web pages that may use the service from a browser; none when empty',
  },
  trusted_proxies: {
    schema: list.pipe(z.array(z.string().refine(isAddressRule, 'must be addresses or ranges such as 10.0.0.0/8'))),
    default: [],
    help: 'addresses and ranges of proxies whose X-Forwarded-For is believed',
  },
  password_min_length: {
    schema: z.coerce.number().int().min(8).max(64),
    default: 12,
    help: 'characters that a password must have',
  },
  password_max_length: {
    schema: z.coerce.number().int().min(64).max(longestPassword),
    default: longestPassword,
    help: 'bytes that a password may have; bcrypt reads 72',
  },
  password_require: {
    schema: list.pipe(z.array(z.enum(characterKindNames))),
    default: [...characterKindNames],
    help: `kinds of characters that a password must have: ${characterKindNames.join(', ')}`,
  },
  password_hash: {
    schema: z.enum(['bcrypt', 'sha256']),
    default: 'bcrypt',
    help: 'bcrypt, or sha256 (stretched by PBKDF2); older hashes are renewed at the next sign-in',
  },
  lockout_attempts: {
    schema: z.coerce.number().int().min(0).max(1_000),
    default: 5,
    help: 'wrong passwords in a row that lock an account; 0 never does',
  },
  lockout_address_attempts: {
    schema: z.coerce.number().int().min(0).max(100_000),
    default: 50,
    help: 'the same from one address, whatever the account; 0 never does',
  },
  lockout_delay: {
    schema: z.coerce.number().int().min(1).max(86_400),
    default: 5,
    help: 'seconds of the first lock; each further failure adds as much',
  },
  lockout_limit: {
    schema: z.coerce.number().int().min(1).max(86_400),
    default: 900,
    help: 'seconds of the longest lock',
  },
  lockout_memory: {
    schema: z.coerce.number().int().min(1).max(2_592_000),
    default: 86_400,
    help: 'seconds after which failures are forgotten',
  },
  token_algorithm: {
    schema: z.enum(algorithms),
    default: 'RS256',
    help: `how tokens are signed: ${algorithms.join(', ')}`,
  },
  token_lifetime: {
    schema: z.coerce.number().int().min(60).max(2_592_000),
    default: 3600,
    help: 'seconds that a token lives',
  },
  storage_password: {
    schema: z.string().min(12, 'must have at least 12 characters').optional(),
    default: undefined,
    help: 'password that the store is encrypted with; without it the store is not encrypted',
  },
  backup_hours: {
    schema: z.coerce.number().int().min(0).max(8_760),
    default: 24,
    help: 'hours between backups of the store; 0 makes none',
  },
  backup_keep: {
    schema: z.coerce.number().int().min(1).max(1_000),
    default: 7,
    help: 'backups that are kept',
  },
  backup_folder: {
    schema: absolute.optional(),
    default: undefined,
    help: 'folder of the backups; backups in the state folder when left out',
  },
  audit_days: {
    schema: z.coerce.number().int().min(1).max(36_500),
    default: 400,
    help: 'days that the audit goes back',
  },
  audit_kept: {
    schema: z.coerce.number().int().min(1_000).max(100_000_000),
    default: 1_000_000,
    help: 'entries that the audit holds at most',
  },
  events_days: {
    schema: z.coerce.number().int().min(1).max(3_650),
    default: 7,
    help: 'days that the event log goes back',
  },
  events_kept: {
    schema: z.coerce.number().int().min(100).max(100_000_000),
    default: 100_000,
    help: 'events that it holds at most',
  },
  events: {
    schema: z.enum(['inline', 'process']),
    default: 'inline',
    help: 'who serves WebSockets: the service itself, or a process of their own',
  },
  subscriptions_per_user: {
    schema: z.coerce.number().int().min(1).max(1_000_000),
    default: 100,
    help: 'WebSockets that one user may read events by at once',
  },
  subscriptions: {
    schema: z.coerce.number().int().min(1).max(1_000_000),
    default: 10_000,
    help: 'WebSockets that all users together may read events by',
  },
  ssh_host_keys: {
    schema: z.enum(['accept-new', 'strict']),
    default: 'accept-new',
    help: 'whether SSH execute learns the key of a host that it has never seen; STATE/ssh/known_hosts holds those it knows',
  },
  ssh_allowed_hosts: {
    schema: list.pipe(
      z.array(z.string().refine(isHostRule, 'must be names with *, addresses, or ranges such as 10.0.0.0/8')),
    ),
    default: [],
    help: 'hosts that SSH execute may reach: names with *, addresses, ranges such as 10.0.0.0/8; any when empty',
  },
  ssh_connect_timeout: {
    schema: z.coerce.number().int().min(1).max(600),
    default: 30,
    help: 'seconds that a host has to let SSH execute in',
  },
  ssh_run_timeout: {
    schema: z.coerce.number().int().min(1).max(86_400),
    default: 300,
    help: 'seconds that a command may run over SSH',
  },
  ssh_output_limit: {
    schema: z.coerce.number().int().min(1).max(67_108_864),
    default: 1_048_576,
    help: 'bytes that are kept of what a command prints',
  },
  outgoing_addresses: {
    schema: list.pipe(z.array(z.string().refine(isAddressRule, 'must be addresses or ranges such as 10.0.0.0/8'))),
    default: [],
    help: 'addresses and ranges, beside the public ones, that catalog managers may reach; a cloud metadata address by itself',
  },
  cache_folder: {
    schema: absolute.optional(),
    default: undefined,
    help: 'folder in which pulled machines are kept for the next pull; cache in the state folder when left out',
  },
  cache_size: {
    schema: z.coerce.number().int().min(0).max(1_000_000_000),
    default: 102_400,
    help: 'MB that these may take; 0 keeps none',
  },
  cache_keep_free: {
    schema: z.coerce.number().int().min(0).max(1_000_000_000),
    default: 5_000,
    help: 'MB of the disk that the cache leaves free',
  },
  pack_trust: {
    schema: z.enum(['off', 'warn', 'require']),
    default: 'off',
    help: 'whether packs that are pulled have to be signed: off, warn, or require',
  },
  pack_trusted_keys: {
    schema: list.pipe(
      z.array(z.string().regex(/^[A-Za-z0-9+/]{43}=$/, 'must be Ed25519 public keys: 32 bytes in base64')),
    ),
    default: [],
    help: 'keys that sign packs that may be pulled: Ed25519, base64 of their 32 bytes',
  },
  pack_signing_key: {
    schema: absolute.optional(),
    default: undefined,
    help: 'file of the Ed25519 private key (PEM) that packs are signed with that are pushed; none when left out',
  },
  driver: {
    schema: z.enum(['auto', 'qemu', 'embedded']),
    default: 'auto',
    help: 'auto, qemu or embedded; auto takes qemu where it is installed',
  },
  demo: { schema: z.enum(['on', 'off']), default: 'on', help: 'whether the first start makes a demo machine' },
  log: {
    schema: z.enum(['debug', 'info', 'warning', 'error']),
    default: 'info',
    help: 'debug, info, warning or error; JSON lines on standard error',
  },
  routes_include: { schema: list, default: [], help: 'serve only these routes: ids or METHOD /path, with * and **' },
  routes_exclude: { schema: list, default: [], help: 'do not serve these routes; wins over routes_include' },
  license_path: {
    schema: z.string().regex(/^[a-z0-9_-]+$/, 'must be one path segment of a-z, 0-9, _ and -'),
    default: 'hypervisor_desktop',
    help: "the license endpoint's product: /api/v1/PRODUCT/key",
  },
  stop_timeout: {
    schema: z.coerce.number().int().min(1).max(86_400),
    default: 180,
    help: 'seconds that a guest has to stop when asked',
  },
  allowed_folders: {
    schema: list.pipe(z.array(z.string().refine(isAbsolute, 'must be absolute paths'))),
    default: [],
    help: 'folders that machines may use disk images and kernels of, and the catalog bundles and local storage; any when empty',
  },
} as const

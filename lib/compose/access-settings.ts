import * as z from 'zod'
import { algorithms } from '#lib/auth/algorithms.ts'
import { characterKindNames, maxPasswordBytes } from '#lib/auth/password-policy.ts'
import { isAddressRule } from '#lib/platform/client-address.ts'
import { AbsolutePath, createNumberSchema, ListenAddress, listSchema } from './setting-types.ts'

/** The settings that say how users sign in. Programs without a listener have them too. */
export const signInSettings = {
  password_min_length: {
    schema: createNumberSchema(8, 64, 'characters'),
    default: 12,
    help: 'minimum length of a password, in characters',
  },
  password_max_length: {
    schema: createNumberSchema(64, maxPasswordBytes, 'bytes'),
    default: maxPasswordBytes,
    help: 'maximum length of a password, in bytes; bcrypt reads 72',
  },
  password_require: {
    schema: listSchema.pipe(z.array(z.enum(characterKindNames))),
    default: [...characterKindNames],
    help: `kinds of characters that a password must have: ${characterKindNames.join(', ')}`,
  },
  password_hash: {
    schema: z.enum(['bcrypt', 'sha256']),
    default: 'bcrypt',
    help: 'bcrypt, or sha256 (stretched by PBKDF2); the service rehashes other passwords at the next sign-in',
  },
  lockout_attempts: {
    schema: createNumberSchema(0, 1_000),
    default: 5,
    help: 'wrong passwords in a row that lock an account; 0: never',
  },
  lockout_address_attempts: {
    schema: createNumberSchema(0, 100_000),
    default: 50,
    help: 'wrong passwords from one address, for any account, that lock the address; 0: never',
  },
  lockout_delay: {
    schema: createNumberSchema(1, 86_400, 'seconds'),
    default: 5,
    help: 'seconds of the first lock; each further failure adds the same',
  },
  lockout_limit: {
    schema: createNumberSchema(1, 86_400, 'seconds'),
    default: 900,
    help: 'seconds of the longest lock',
  },
  lockout_memory: {
    schema: createNumberSchema(1, 2_592_000, 'seconds'),
    default: 86_400,
    help: 'seconds after which the service forgets failures',
  },
  token_algorithm: {
    schema: z.enum(algorithms),
    default: 'RS256',
    help: `how tokens are signed: ${algorithms.join(', ')}`,
  },
  token_lifetime: {
    schema: createNumberSchema(60, 2_592_000, 'seconds'),
    default: 3600,
    help: 'seconds that a token is valid',
  },
} as const

/** The settings that say how clients reach the service, and how users sign in. */
export const accessSettings = {
  listen: {
    schema: ListenAddress,
    default: 'https://127.0.0.1:8443',
    help: 'address to listen on; http:// on loopback only',
  },
  public_url: {
    schema: ListenAddress.optional(),
    default: undefined,
    help: 'address at which clients reach the service, if a proxy is in front of it; links and records of machines name it',
  },
  root_password: {
    schema: z.string().optional(),
    default: undefined,
    help: 'password of the user root, set at every start; if unset, the first start generates one and prints it',
  },
  plain_http: {
    schema: z.enum(['loopback', 'anywhere']),
    default: 'loopback',
    help: 'where http:// is allowed: loopback or anywhere (then the whole network path can read the traffic)',
  },
  tls_certificate: {
    schema: AbsolutePath.optional(),
    default: undefined,
    help: 'certificate file (PEM, with its chain); if unset, tls/cert.pem in the state folder',
  },
  tls_key: { schema: AbsolutePath.optional(), default: undefined, help: 'private key of tls_certificate (PEM)' },
  cors_origins: {
    schema: listSchema.pipe(
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
    help: 'origins of web pages that may use the service from a browser; none if empty',
  },
  trusted_proxies: {
    schema: listSchema.pipe(
      z.array(z.string().refine(isAddressRule, 'must be addresses or ranges such as 10.0.0.0/8')),
    ),
    default: [],
    help: 'addresses and ranges of proxies whose X-Forwarded-For the service trusts',
  },
  ...signInSettings,
} as const

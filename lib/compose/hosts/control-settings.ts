import * as z from 'zod'
import { isLoopbackHost } from '#lib/calls/loopback.ts'
import { KeySet } from '#lib/auth/assertions/issuer-keys.ts'
import { hostKeyPattern } from '#lib/hosts/host-key.ts'

/** An address that credentials or keys may be exchanged with. */
const isSafeAddress = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))
}

const safeAddress = 'must be an address with https://; http:// on loopback only'

/** A value that may also be written as JSON, on the command line and in the environment. */
const parseJson = (value: unknown): unknown => {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

const trustedIssuerText =
  'must be a list of { issuer, jwks, audience }, where jwks is a key set or an address with https://; algorithm is RS256, RS384 or RS512'

const TrustedIssuer = z.strictObject({
  issuer: z.string().min(1).max(2048),
  jwks: z.union([z.string().refine(isSafeAddress), z.preprocess(parseJson, KeySet)]),
  audience: z.string().min(1).max(256),
  algorithm: z.enum(['RS256', 'RS384', 'RS512']).default('RS256'),
})

/** The settings that connect a host with its control. */
export const controlSettings = {
  control_url: {
    schema: z
      .string()
      .refine(text => isSafeAddress(text) && /^https?:\/\/[^/?#@]+\/?$/.test(text), safeAddress)
      .transform(text => new URL(text).origin)
      .optional(),
    default: undefined,
    help: 'address of the control of this host; if unset, it has none',
  },
  control_key: {
    schema: z.string().regex(hostKeyPattern, 'must be the key from the registration of this host').optional(),
    default: undefined,
    help: 'key of this host, from its registration at control_url',
  },
  trusted_issuers: {
    schema: z.preprocess(parseJson, z.unknown()).transform((value, { addIssue }) => {
      const parsed = z.array(TrustedIssuer).max(16).safeParse(value)
      if (parsed.success) return parsed.data
      addIssue({ code: 'custom', message: trustedIssuerText })
      return z.NEVER
    }),
    default: [],
    help: 'services whose users may use this host: a list of { issuer, jwks, audience }, as JSON; none if empty',
  },
} as const

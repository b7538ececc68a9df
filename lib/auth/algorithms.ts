/** How tokens may be signed (RFC 7518, 3.1): with this host's RSA key, or with a secret that only this host has. */
export const algorithms = ['RS256', 'RS384', 'RS512', 'HS256', 'HS384', 'HS512'] as const
export type Algorithm = (typeof algorithms)[number]

/** Whether the key is a shared secret, which must not be published. */
export const isSecret = (algorithm: Algorithm): boolean => algorithm.startsWith('HS')

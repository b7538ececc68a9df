/** The algorithms that tokens can be signed with (RFC 7518, 3.1): RS with this host's RSA key, HS with a secret of this host. */
export const algorithms = ['RS256', 'RS384', 'RS512', 'HS256', 'HS384', 'HS512'] as const
export type Algorithm = (typeof algorithms)[number]

/** Whether the algorithm signs with a secret, which must not be published, instead of a key pair. */
export const usesSharedSecret = (algorithm: Algorithm): boolean => algorithm.startsWith('HS')

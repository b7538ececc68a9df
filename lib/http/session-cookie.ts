/**
 * Names of the cookie with the token of a browser's session. Browsers accept the first name only over TLS, for exactly this host, so
 * no other site can put its own session in place of the user's. Plain HTTP has no such protection.
 */
const cookieNames = { secure: '__Host-vmhost', plain: 'vmhost' } as const

const nameOf = (isSecure: boolean): string => cookieNames[isSecure ? 'secure' : 'plain']

/** The token in a Cookie header; undefined without one. */
export const readSessionCookie = (header: string | null, isSecure: boolean): string | undefined => {
  const prefix = `${nameOf(isSecure)}=`
  const pair = header?.split(/; */).find(text => text.startsWith(prefix))
  return pair?.slice(prefix.length) || undefined
}

/**
 * The Set-Cookie header that keeps a token until `expiresAt` (seconds since 1970), or that removes it. Scripts cannot read the cookie,
 * and browsers send it with no request that another site has caused.
 */
export const formatSessionCookie = (
  session: { readonly token: string; readonly expiresAt: number } | undefined,
  isSecure: boolean,
): string => {
  const seconds = session ? Math.max(0, session.expiresAt - Math.floor(Date.now() / 1000)) : 0
  const flags = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  return `${nameOf(isSecure)}=${session?.token ?? ''}; ${flags}`
}

import { createPrivateKey } from 'node:crypto'
import { isIP } from 'node:net'
import type { Certificate } from './certificate.ts'

const day = 24 * 60 * 60 * 1000
/** Clients of a self-signed certificate trust it by hand, and the strictest of them take none for longer than this. */
const validity = 825 * day

/** Who our own certificates are for and from. */
export const selfSignedName = 'CN=vmhost'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

const encodePem = (label: string, der: ArrayBuffer): string => {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

/** The key pair of a certificate that is renewed, or a new one. */
const importKeyPair = async (key: string | undefined): Promise<CryptoKeyPair> => {
  if (key === undefined) return crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  // The export in this format, which Node and the DOM type differently.
  const { kty, crv, x, y, d } = createPrivateKey(key).export({ format: 'jwk' }) as JsonWebKey
  const jwk = { kty, crv, x, y } as JsonWebKey
  return {
    privateKey: await crypto.subtle.importKey('jwk', { ...jwk, ...(d !== undefined && { d }) }, algorithm, true, [
      'sign',
    ]),
    publicKey: await crypto.subtle.importKey('jwk', jwk, algorithm, true, ['verify']),
  }
}

/** A certificate for these names and addresses; `key` (PEM) is that of the one that it renews. */
export const createSelfSigned = async (names: readonly string[], key?: string): Promise<Certificate> => {
  // Needed on a first start alone, so both are loaded only then; the second does not load without the first.
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const keys = await importKeyPair(key)
  const now = Date.now()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: Buffer.from(crypto.getRandomValues(new Uint8Array(15))).toString('hex'),
    name: selfSignedName,
    // An hour of grace for clients whose clock is behind.
    notBefore: new Date(now - day / 24),
    notAfter: new Date(now + validity),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyCertSign, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map(value => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value })),
      ),
    ],
  })
  return {
    cert: certificate.toString('pem'),
    key: encodePem('PRIVATE KEY', await crypto.subtle.exportKey('pkcs8', keys.privateKey)),
  }
}

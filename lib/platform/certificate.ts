import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { exists, makePrivateFolder, writeFileAtomic } from './files.ts'

export interface Certificate {
  /** PEM. */
  readonly cert: string
  /** PEM. */
  readonly key: string
}

const day = 24 * 60 * 60 * 1000
/** Clients of a self-signed certificate trust it by hand, and the strictest of them take none for longer than this. */
const validity = 825 * day

const pem = (label: string, der: ArrayBuffer): string => {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

const selfSigned = async (names: readonly string[]): Promise<Certificate> => {
  // Needed on a first start alone, so both are loaded only then; the second does not load without the first.
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const now = Date.now()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: Buffer.from(crypto.getRandomValues(new Uint8Array(15))).toString('hex'),
    name: 'CN=vmhost',
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
    key: pem('PRIVATE KEY', await crypto.subtle.exportKey('pkcs8', keys.privateKey)),
  }
}

const checkPair = ({ cert, key }: Certificate, folder: string): void => {
  let fits = false
  try {
    fits = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    // Not readable is as bad as not fitting: the same advice helps.
  }
  if (!fits)
    throw new ServiceError(
      'unavailable',
      `cert.pem and key.pem in ${folder} are not a certificate and its key. Put a pair that fits there, or remove both for a new self-signed one.`,
    )
}

/**
 * The certificate in `folder` (`cert.pem`, `key.pem`); a self-signed one for localhost and `names` is made when there is none.
 * Throws `unavailable` for half a pair and for two files that do not fit.
 */
export const ensureCertificate = async (folder: string, names: readonly string[]): Promise<Certificate> => {
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  const there = [await exists(files.cert), await exists(files.key)]
  if (!there[0] && !there[1]) {
    const made = await selfSigned([...new Set(['localhost', '127.0.0.1', '::1', ...names])])
    await makePrivateFolder(folder)
    await writeFileAtomic(files.key, made.key)
    await writeFileAtomic(files.cert, made.cert, 0o644)
    return made
  }
  if (!there[0] || !there[1])
    throw new ServiceError(
      'unavailable',
      `${folder} has only one of cert.pem and key.pem. Add the other, or remove both.`,
    )
  const pair = { cert: await readFile(files.cert, 'utf8'), key: await readFile(files.key, 'utf8') }
  checkPair(pair, folder)
  return pair
}

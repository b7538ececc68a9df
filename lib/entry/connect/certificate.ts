import { X509Certificate } from 'node:crypto'
import { connect, type ConnectionOptions } from 'node:tls'
import { getHost } from '#lib/platform/outgoing-request.ts'

/** Milliseconds within which a service must show its certificate. */
const timeLimit = 10_000

/** The SHA-256 of a certificate, as the service prints it at its start. */
export const getFingerprint = (pem: string): string => new X509Certificate(pem).fingerprint256

/**
 * The options of TLS that trust one certificate, and only this one. Its name does not matter, because the certificate itself is what
 * is trusted.
 */
export const trustCertificate = (pem: string): ConnectionOptions => {
  const fingerprint = getFingerprint(pem)
  return {
    ca: pem,
    allowPartialTrustChain: true,
    checkServerIdentity: (_, certificate) =>
      certificate.fingerprint256 === fingerprint
        ? undefined
        : new Error('it has another certificate than at the sign-in'),
  }
}

/**
 * Asks the service at an https address for its certificate. Returns the certificate as PEM if no authority that this computer trusts
 * has signed it for this address, else undefined. Rejects with the error of the connection.
 */
export const findUntrustedCertificate = async (url: string): Promise<string | undefined> => {
  const address = new URL(url)
  const host = getHost(address)
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
  // Nothing is sent over this connection.
  const socket = connect(
    {
      host,
      port: Number(address.port || 443),
      servername: /[a-z]/i.test(host) && !host.includes(':') ? host : '',
      rejectUnauthorized: false,
    },
    () => resolve(socket.authorized ? undefined : new X509Certificate(socket.getPeerCertificate().raw).toString()),
  )
  socket.once('error', reject)
  socket.setTimeout(timeLimit, () => socket.destroy(new Error('it does not answer')))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}

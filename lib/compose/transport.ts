import { join } from 'node:path'
import type { Config } from './config.ts'
import {
  type Certificate,
  type CertificateFiles,
  type CertificateWatch,
  getCertificateFiles,
  countDaysLeft,
  ensureCertificate,
  isSelfSigned,
  readCertificate,
  watchCertificate,
} from '#lib/platform/certificate.ts'
import type { Listener } from '#lib/listener/listener.ts'
import { ServiceError } from '#lib/errors.ts'
import { getAreaLogger } from '#lib/platform/log.ts'

/** How clients reach the service: over plain HTTP, or over TLS with a certificate. */
export interface Transport {
  readonly certificate: Certificate | undefined
  /** The file of the certificate, if it is self-signed: clients must be told to trust it. */
  readonly selfSignedFile: string | undefined
  /** Headers of every reply. */
  readonly headers: Readonly<Record<string, string>>
  /** The health check of the certificate. */
  readonly health: (() => Promise<string>) | undefined
  /** Gives new certificates to the listener from now on. */
  watch(listener: Pick<Listener, 'setCertificate'>): CertificateWatch
}

const plainTransport: Transport = {
  certificate: undefined,
  selfSignedFile: undefined,
  headers: {},
  health: undefined,
  watch: () => ({ reload: async () => {}, [Symbol.dispose]: () => {} }),
}

/** Reads the certificate that the settings name. Its errors begin with the names of the settings. */
const readConfiguredCertificate = async (files: CertificateFiles): Promise<Certificate> => {
  try {
    return await readCertificate(files)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new ServiceError(error.fault, `tls_certificate, tls_key: ${error.message}`, { cause: error })
  }
}

/**
 * Opens the certificate that the settings name, else the self-signed one of the state folder, which the first start creates.
 * @param hostName the name of this host, for the self-signed certificate
 */
export const openTransport = async (config: Config, hostName: string): Promise<Transport> => {
  const log = getAreaLogger('transport')
  if (config.listen.protocol === 'http:') {
    if (config.plain_http === 'anywhere')
      log.warning(
        'Serving plain HTTP: the whole network path can read passwords and tokens. Use it only behind a proxy.',
      )
    return plainTransport
  }
  const { tls_certificate: cert, tls_key: key, state, listen } = config
  const folder = join(state, 'tls')
  const configured = cert !== undefined && key !== undefined ? { cert, key } : undefined
  const files = configured ?? getCertificateFiles(folder)
  const certificate = configured
    ? await readConfiguredCertificate(configured)
    : await ensureCertificate(folder, [listen.hostname, hostName])
  const selfSigned = isSelfSigned(certificate)
  let current = certificate
  return {
    certificate,
    selfSignedFile: selfSigned ? files.cert : undefined,
    // A browser with this header refuses every certificate that it does not trust, so a self-signed one would lock it out.
    headers: selfSigned ? {} : { 'Strict-Transport-Security': 'max-age=31536000' },
    health: async () => {
      const days = countDaysLeft(current)
      if (days < 0) throw new Error('it has expired')
      return `good for ${days} days`
    },
    watch: listener =>
      watchCertificate({
        files,
        certificate,
        log,
        onChange(next) {
          current = next
          listener.setCertificate(next)
        },
      }),
  }
}

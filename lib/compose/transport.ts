import { join } from 'node:path'
import type { Config } from './config.ts'
import {
  type Certificate,
  type CertificateFiles,
  certificateFilesIn,
  daysLeft,
  ensureCertificate,
  isSelfSigned,
  readCertificate,
  watchCertificate,
} from '#lib/platform/certificate.ts'
import type { Listener } from '#lib/listener/listener.ts'
import { ServiceError } from '#lib/errors.ts'
import { logOf } from '#lib/platform/log.ts'

interface Watch extends Disposable {
  look(): Promise<void>
}

/** How the service is reached: plain, or under which certificate. */
export interface Transport {
  readonly certificate: Certificate | undefined
  /** The file of the certificate that clients have to trust, when it is our own. */
  readonly toTrust: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly health: (() => Promise<string>) | undefined
  /** Hands new certificates to the listener from now on. */
  watch(listener: Pick<Listener, 'setCertificate'>): Watch
}

const plain: Transport = {
  certificate: undefined,
  toTrust: undefined,
  headers: {},
  health: undefined,
  watch: () => ({ look: async () => {}, [Symbol.dispose]: () => {} }),
}

/** Names the settings that an error is about. */
const readGiven = async (files: CertificateFiles): Promise<Certificate> => {
  try {
    return await readCertificate(files)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new ServiceError(error.fault, `tls_certificate, tls_key: ${error.message}`, { cause: error })
  }
}

/** `name`: of this host, for the certificate that is made where there is none. */
export const openTransport = async (config: Config, name: string): Promise<Transport> => {
  const log = logOf('transport')
  if (config.listen.protocol === 'http:') {
    if (config.plain_http === 'anywhere')
      log.warning('Serving plain HTTP: everybody on the way reads passwords and tokens. Use it behind a proxy alone.')
    return plain
  }
  const { tls_certificate: cert, tls_key: key, state, listen } = config
  const folder = join(state, 'tls')
  const given = cert !== undefined && key !== undefined ? { cert, key } : undefined
  const files = given ?? certificateFilesIn(folder)
  const certificate = given ? await readGiven(given) : await ensureCertificate(folder, [listen.hostname, name])
  const own = isSelfSigned(certificate)
  let current = certificate
  return {
    certificate,
    toTrust: own ? files.cert : undefined,
    // A browser that was told once never goes back to a certificate that it has to be told to trust.
    headers: own ? {} : { 'Strict-Transport-Security': 'max-age=31536000' },
    health: async () => {
      const days = daysLeft(current)
      if (days < 0) throw new Error('it has expired')
      return `good for ${days} days`
    },
    watch: listener =>
      watchCertificate({
        files,
        certificate,
        log,
        changed(next) {
          current = next
          listener.setCertificate(next)
        },
      }),
  }
}

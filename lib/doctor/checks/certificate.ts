import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { countDaysLeft, getCertificateFiles, isSelfSigned, readCertificate } from '#lib/platform/certificate.ts'
import { createOk, createProblem, createWarning, type Finding } from '../finding.ts'
import type { Surroundings } from '../surroundings.ts'

/** Days before the end of a certificate from which on it should be replaced. */
const soon = 30

/** The command that mends a certificate: of a key that others can read its mode, else the pair is looked at. */
const findRemedy = (message: string, { cert, key }: { readonly cert: string; readonly key: string }): string =>
  message.includes('chmod 600') ? `chmod 600 ${key}` : `openssl x509 -in ${cert} -noout -subject -enddate`

/** Checks that the certificate can be used, and for how long. */
export const checkCertificate = async ({ settings, service }: Surroundings): Promise<Finding> => {
  const { listen, tls_certificate: cert, tls_key: key } = settings
  if (listen.protocol === 'http:') return createOk('The service serves plain HTTP.')
  const configured = cert !== undefined && key !== undefined ? { cert, key } : undefined
  const files = configured ?? getCertificateFiles(join(settings.state, 'tls'))
  if (!configured && !existsSync(files.cert) && !existsSync(files.key))
    return createOk('The first start makes a self-signed certificate.')
  try {
    const certificate = await readCertificate(files)
    const days = countDaysLeft(certificate)
    const kind = isSelfSigned(certificate) ? 'self-signed; clients must be told to trust it' : 'signed by an authority'
    if (days >= soon) return createOk(`${files.cert} is good for ${days} days (${kind}).`)
    return isSelfSigned(certificate) && !configured
      ? createWarning(
          `${files.cert} ends in ${days} days. The next start of the service renews it.`,
          'systemctl restart vmhost',
        )
      : createWarning(
          `${files.cert} ends in ${days} days. Put a new one there; the service takes it over by itself.`,
          service.kind === 'stopped' ? undefined : 'systemctl reload vmhost',
        )
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return createProblem(error.message, findRemedy(error.message, files))
  }
}

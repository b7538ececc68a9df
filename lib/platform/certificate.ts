import { createPrivateKey, X509Certificate } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { readBounded } from './bounded-file.ts'
import { exists, makePrivateFolder, writeFileAtomic } from './files.ts'
import type { Logger } from './log.ts'
import { createSelfSigned, selfSignedName } from './self-signed.ts'
import { describeSystemError } from './system-errors.ts'

export interface Certificate {
  /** PEM, with its chain. */
  readonly cert: string
  /** PEM. */
  readonly key: string
}

/** Where a certificate and its key are. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

const day = 24 * 60 * 60 * 1000
/** Days before its end from which on a certificate is spoken of. */
const soon = 30

/** Days that a certificate is still good for; negative when it has expired. */
export const countDaysLeft = ({ cert }: Certificate): number =>
  Math.floor((Date.parse(new X509Certificate(cert).validTo) - Date.now()) / day)

/** Whether a certificate is one that this service made for itself. */
export const isSelfSigned = ({ cert }: Certificate): boolean => {
  const { subject, issuer } = new X509Certificate(cert)
  return subject === selfSignedName && issuer === selfSignedName
}

const createUnusableError = (files: CertificateFiles, why: string): ServiceError =>
  new ServiceError('unavailable', `${files.cert} and ${files.key} cannot be used: ${why}.`)

const readText = async (path: string): Promise<string> => (await readBounded(path)).toString('utf8')

/** Reads a pair. Throws `unavailable` when a file is missing or open to others, they do not fit, or time is over. */
export const readCertificate = async (files: CertificateFiles): Promise<Certificate> => {
  const readOne = (path: string): Promise<string> =>
    readText(path).catch((error: unknown) => {
      if (error instanceof ServiceError) throw error
      throw createUnusableError(files, `of ${path} the system says that ${describeSystemError(error)}`)
    })
  const [cert, key] = await Promise.all([readOne(files.cert), readOne(files.key)])
  if (((await stat(files.key)).mode & 0o077) !== 0)
    throw createUnusableError(files, 'the key can be read by others than its owner; run chmod 600 on it')
  let fits = false
  try {
    fits = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    // Not readable is as bad as not fitting: the same advice helps.
  }
  if (!fits) throw createUnusableError(files, 'they are not a certificate and its key. Put a pair there that fits')
  if (countDaysLeft({ cert, key }) < 0)
    throw createUnusableError(files, 'the certificate has expired. Put a new one there')
  return { cert, key }
}

/**
 * The service's own certificate in `folder`: a self-signed one for localhost and `names` where there is none, renewed
 * under the same key before it ends. Throws `unavailable` for half a pair and for one that cannot be used.
 */
export const ensureCertificate = async (folder: string, names: readonly string[]): Promise<Certificate> => {
  const files = getCertificateFiles(folder)
  const there = [await exists(files.cert), await exists(files.key)]
  const all = [...new Set(['localhost', '127.0.0.1', '::1', ...names])]
  if (!there[0] && !there[1]) {
    const made = await createSelfSigned(all)
    await makePrivateFolder(folder)
    await writeFileAtomic(files.key, made.key)
    await writeFileAtomic(files.cert, made.cert, 0o644)
    return made
  }
  if (!there[0] || !there[1])
    throw createUnusableError(
      files,
      'only one of them is there. Add the other, or remove it for a new self-signed pair',
    )
  const old = { cert: await readText(files.cert), key: await readText(files.key) }
  if (!isOurs(old) || countDaysLeft(old) >= soon) return readCertificate(files)
  const renewed = await createSelfSigned(all, old.key)
  await writeFileAtomic(files.cert, renewed.cert, 0o644)
  return renewed
}

const isOurs = (pair: Certificate): boolean => {
  try {
    return isSelfSigned(pair)
  } catch {
    return false
  }
}

/** The files of the pair in a folder. */
export const getCertificateFiles = (folder: string): CertificateFiles => ({
  cert: join(folder, 'cert.pem'),
  key: join(folder, 'key.pem'),
})

interface WatchOptions {
  readonly files: CertificateFiles
  readonly certificate: Certificate
  /** Called with each new certificate that can be used. */
  readonly onChange: (certificate: Certificate) => void
  readonly log: Pick<Logger, 'info' | 'warning'>
}

export interface CertificateWatch extends Disposable {
  /** Reads the files now if they have changed. */
  reload(): Promise<void>
}

const interval = 10_000

/**
 * Checks every ten seconds whether the files have changed. A certificate that cannot be used is logged once, and the old one
 * stays in use. Logs a warning each day when the certificate in use is about to expire.
 */
export const watchCertificate = ({ files, certificate, onChange, log }: WatchOptions): CertificateWatch => {
  let current = certificate
  const readStamp = async (): Promise<string> => {
    const stats = await Promise.all([files.cert, files.key].map(file => stat(file).catch(() => undefined)))
    return stats.map(each => `${each?.mtimeMs} ${each?.size} ${each?.ino}`).join()
  }
  let stamp = readStamp()
  const reload = async (): Promise<void> => {
    const [previous, present] = [await stamp, await readStamp()]
    if (previous === present) return
    stamp = Promise.resolve(present)
    try {
      current = await readCertificate(files)
      onChange(current)
      log.info('A new certificate is in use, for {days} days', { days: countDaysLeft(current) })
      warn()
    } catch (error) {
      log.warning('The certificate was not taken over, and the old one stays in use: {reason}', {
        reason: messageOf(error),
      })
    }
  }
  const warn = (): void => {
    const days = countDaysLeft(current)
    if (days < soon) log.warning('The certificate {file} ends in {days} days', { file: files.cert, days })
  }
  warn()
  const timers = [setInterval(() => void reload(), interval), setInterval(warn, day)]
  for (const timer of timers) timer.unref()
  return {
    reload,
    [Symbol.dispose]: () => timers.forEach(clearInterval),
  }
}

import { createClient } from '#lib/client/client.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { readSecret } from '../admin/read-secret.ts'
import { UsageError } from '../usage-error.ts'
import { findUntrustedCertificate, getFingerprint, trustCertificate } from './certificate.ts'
import { type Context, localName, saveContext, toServiceUrl } from './contexts.ts'
import { createNodeFetch } from './node-fetch.ts'
import { openContext } from './service.ts'

interface SignInOptions {
  readonly user?: string
  readonly apiKey?: true
  readonly name?: string
  readonly fingerprint?: string
}

const toHex = (fingerprint: string): string => fingerprint.replace(/[^0-9a-f]/gi, '').toUpperCase()

const confirmFingerprint = async (url: string, fingerprint: string): Promise<void> => {
  const { confirm } = await import('@clack/prompts')
  const isTrusted = await confirm({
    message: `No authority has signed the certificate of ${url}. Its SHA-256 is\n${fingerprint}\nDoes the service print the same at its start?`,
    initialValue: false,
  })
  if (isTrusted !== true) throw new UsageError('The certificate is not trusted; nothing was sent.')
}

/**
 * Returns the certificate to trust, if no authority has signed it. Throws `forbidden` for another fingerprint than the expected one,
 * and UsageError if nobody says that it is the right one.
 */
const chooseCertificate = async (url: string, expected: string | undefined): Promise<string | undefined> => {
  if (!url.startsWith('https:')) return undefined
  const certificate = await findUntrustedCertificate(url).catch((error: unknown) => {
    throw new ServiceError('unavailable', `${url} cannot be reached: ${messageOf(error)}.`)
  })
  if (certificate === undefined) return undefined
  const fingerprint = getFingerprint(certificate)
  if (expected === undefined && !process.stdin.isTTY)
    throw new UsageError(
      `No authority has signed the certificate of ${url}. If its SHA-256 is right, repeat the command with --fingerprint ${fingerprint}`,
    )
  if (expected === undefined) await confirmFingerprint(url, fingerprint)
  else if (toHex(expected) !== toHex(fingerprint))
    throw new ServiceError(
      'forbidden',
      `${url} has another certificate, with the SHA-256 ${fingerprint}; nothing was sent.`,
    )
  return certificate
}

const askUser = async (): Promise<string> => {
  if (!process.stdin.isTTY) throw new UsageError("error: required option '--user <name>' not specified")
  const { isCancel, text } = await import('@clack/prompts')
  const user = await text({ message: 'User name or e-mail address' })
  if (isCancel(user)) throw new UsageError('Cancelled; nothing was sent.')
  return user.trim()
}

/**
 * Signs in to a service and saves its context, which is the current one then. Throws the refusal of the service, and `unavailable` if
 * it cannot be reached.
 */
export const signIn = async (
  address: string,
  { user, apiKey, name, fingerprint }: SignInOptions,
): Promise<{ readonly name: string; readonly context: Context }> => {
  const url = toServiceUrl(address)
  const contextName = name ?? new URL(url).host
  if (contextName === localName)
    throw new UsageError(`${localName} is the name of the service of this host; choose another one with --name.`)
  const certificate = await chooseCertificate(url, fingerprint)
  const trusted = { url, ...(certificate !== undefined && { certificate }) }
  let context: Context
  if (apiKey) {
    context = { ...trusted, api_key: await readSecret('API key') }
    await openContext(context).client.api.auth.showSession()
  } else {
    const username = user ?? (await askUser())
    const fetch = createNodeFetch(certificate === undefined ? {} : trustCertificate(certificate))
    const { api } = createClient({ url, retries: 0, fetch })
    const password = await readSecret(`password of ${username}`)
    const { token, expires_at: expiresAt } = await api.auth.signIn({ body: { username, password } })
    context = { ...trusted, user: username, token, expires_at: new Date(expiresAt * 1000).toISOString() }
  }
  await saveContext(contextName, context)
  return { name: contextName, context }
}

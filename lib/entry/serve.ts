import type { Config } from '#lib/config.ts'
import { openLog } from '#lib/platform/log.ts'
import { openHost, type RunningHost } from './host.ts'

const showPassword = (password: string): void => {
  process.stdout.write(`
The password of root is ${password}
It is shown this once; keep it, or set VMHOST_ROOT_PASSWORD before a start.
`)
}

const welcome = ({ url, driver, certificate }: RunningHost): string => {
  const curl = `curl -s${certificate ? ` --cacert '${certificate}'` : ''}`
  return `
vmhost serves ${url} on ${driver}

Sign in:
  TOKEN=$(${curl} ${url}/api/v1/auth/token -d '{"email":"root","password":"PASSWORD"}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')

Then try:
  ${curl} -H "Authorization: Bearer $TOKEN" ${url}/api/v1/machines
  ${curl} -H "Authorization: Bearer $TOKEN" -X PUT ${url}/api/v1/machines/demo/start
  ${curl} -H "Authorization: Bearer $TOKEN" ${url}/api/v1/machines/demo/status
`
}

/** Milliseconds for what the service has closed to be gone. */
const leftOpen = 2_000

/** Runs the service until SIGTERM or SIGINT, then ends it in order. A second signal ends it at once. */
export const serve = async (config: Config, entry: URL): Promise<void> => {
  await openLog(config.log)
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  const host = await openHost(config, entry, showPassword)
  // Of a service without a terminal it means: read again. With one it means that the terminal is gone.
  if (!process.stdout.isTTY) process.on('SIGHUP', () => void host.reload())
  process.stdout.write(welcome(host))
  await asked
  try {
    await host[Symbol.asyncDispose]()
  } finally {
    // What could be closed is, and is on the disk: a connection that somebody else does not end is no reason to stay.
    setTimeout(() => process.exit(), leftOpen).unref()
  }
}

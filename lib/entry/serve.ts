import type { Config } from '#lib/compose/config.ts'
import { closeInherited } from '#lib/platform/inherited.ts'
import { leave } from '#lib/platform/leave.ts'
import { getAreaLogger, openLog } from '#lib/platform/log.ts'
import type { ProgramParts } from '#lib/platform/program-parts.ts'
import { withFullDiskError } from '#lib/storage/full-disk.ts'
import { openHost, type RunningHost } from '#lib/compose/host.ts'

const showPassword = (password: string): void => {
  process.stdout.write(`
The password of root is ${password}
vmhost prints it only this once. Save it, or set VMHOST_ROOT_PASSWORD before a start.
`)
}

/** Formats the calls to try first, of those that this service serves. */
const formatCalls = ({ url, routes }: RunningHost, curl: string): string => {
  const call = `${curl} -H "Authorization: Bearer $TOKEN"`
  const calls = {
    'machines/list': `${call} ${url}/api/v1/machines`,
    'machines/start': `${call} -X PUT ${url}/api/v1/machines/demo/start`,
    'machines/status': `${call} ${url}/api/v1/machines/demo/status`,
    'catalog/list': `${call} ${url}/api/v1/catalog`,
  }
  return Object.entries(calls)
    .filter(([id]) => routes.some(route => route.id === id))
    .slice(0, 3)
    .map(([, line]) => `  ${line}\n`)
    .join('')
}

const formatWelcome = (host: RunningHost): string => {
  const { url, driver, certificate, firstAccess } = host
  const curl = `curl -s${certificate ? ` --cacert '${certificate}'` : ''}`
  return `
vmhost serves ${url} on ${driver}

In a browser:
  ${firstAccess === undefined ? `${url}/` : `${firstAccess}\n  sets your password of root. The link works once, for 24 hours; \`vmhost link\` makes another.`}

Sign in without one:
  TOKEN=$(${curl} ${url}/api/v1/auth/token -d '{"email":"root","password":"PASSWORD"}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')

Then try:
${formatCalls(host, curl)}`
}

/** Milliseconds after the shutdown in which closed sockets and threads can end. */
const exitGracePeriod = 1_000
/** Milliseconds from the signal to a forced exit: more than the time limits of all parts together. */
const maxShutdownTime = 19_000

/** Settles at the first SIGTERM or SIGINT. The system's default action for a second one ends the process at once. */
const waitForEndSignal = (): Promise<void> =>
  new Promise(resolve => {
    const signals = ['SIGTERM', 'SIGINT'] as const
    const onSignal = (): void => {
      for (const signal of signals) process.off(signal, onSignal)
      const exitByForce = (): void => {
        getAreaLogger('entry').error('The service did not end within {seconds} seconds and is terminated.', {
          seconds: maxShutdownTime / 1000,
        })
        leave(1)
      }
      setTimeout(exitByForce, maxShutdownTime).unref()
      resolve()
    }
    for (const signal of signals) process.on(signal, onSignal)
  })

/** Runs the service until SIGTERM or SIGINT, then shuts it down within 20 seconds. A second signal ends it at once. */
export const serve = async (config: Config, parts: ProgramParts): Promise<void> => {
  closeInherited()
  await openLog(config.log)
  const endSignal = waitForEndSignal()
  const host = await withFullDiskError(config.state, () => openHost(config, parts, showPassword))
  // SIGHUP asks a service without a terminal to reload. With a terminal it means that the terminal was closed.
  if (!process.stdout.isTTY) process.on('SIGHUP', () => void host.reload())
  process.stdout.write(formatWelcome(host))
  await endSignal
  if (!(await host.end())) leave(1)
  // Everything is closed and on the disk, so the process need not wait for connections that a peer keeps open.
  setTimeout(() => leave(0), exitGracePeriod).unref()
}
